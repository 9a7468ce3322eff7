import { setTimeout as sleep } from 'node:timers/promises';

import { isAllBooked, startBenchBook, STORES, type BenchBook } from '../bookkeepers.js';
import { startBenchChain, startReplayNode } from '../chain.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { summarize, timeEach } from '../load.js';
import { measurePaidCases } from '../paid-cases.js';
import { formatNumber } from '../report.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { sellMany } from '../sales.js';
import { startTollgate } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';
import { openRefunds, requestRefunds } from './refund-requests.js';

/** More than a run writes, because without a bookkeeper nothing is taken out. */
const ON = { BOOK: 'on', BOOK_OUTBOX_LIMIT: '10000000' };
const OFF = 'BOOK=off';
const SOLD_AT_ONCE = 128;
const LOOK_EVERY_MS = 20;

/** What reporting to the book costs, how much a bookkeeper takes in, and when a payment is in the book or a refund in the journal. */
export async function runBookLane(options: LaneOptions): Promise<LaneResult> {
  const paid = await withCleanup((keep) => measurePaid(options, keep));
  const alone = await withCleanup((keep) => measureBookkeepers(options, keep));
  const rate = paid.find(({ subject }) => subject === OFF)?.perSecond;
  return {
    lane: 'book',
    title: 'paid answers with the book on and off, and bookkeepers alone',
    baseline: `${OFF} / PostgreSQL`,
    rows: [...paid, ...alone],
    notes: alone
      .filter(({ case: name }) => name.startsWith('outbox'))
      .map(({ subject, perSecond = NaN }) => {
        const ratio = formatNumber(perSecond / (rate ?? NaN));
        return `A bookkeeper on ${subject} takes in ${ratio} times the paid answers of ${OFF}, with the machine to itself.`;
      }),
  };
}

async function measurePaid(options: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const chain = keep(await startBenchChain());
  const { url: node } = keep(await startReplayNode(chain));
  const { server } = await startBenchBook('PostgreSQL', chain, keep);
  const redis = { url: server.url, servers: [server] };
  const terms = { chain, rpcUrl: node };
  const targets = [
    await startTollgate({ ...terms, name: OFF }, keep),
    await startTollgate({ ...terms, name: 'BOOK=on', env: ON }, keep),
    await startTollgate({ ...terms, name: 'BOOK=on, with a bookkeeper on PostgreSQL', env: ON, redis }, keep),
  ];
  const cases = [{ name: 'paid, 64 in flight', inFlight: 64, requests: options.quick ? 500 : 2_000 }];
  return measurePaidCases(cases, { chain, node, targets }, options);
}

/**
 * The events that a bookkeeper writes into the book in a second, how long a lone payment takes until it is there, and how
 * long a request for a refund takes until the journal has the job that sends it.
 */
async function measureBookkeepers({ rounds, quick, progress }: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const [events, payments, refunds] = quick ? [1_000, 3, 16] : [20_000, 20, 80];
  const chain = keep(await startBenchChain());
  const outboxes: Case = { name: `outbox of ${events} events`, baseline: 'PostgreSQL', subjects: [] };
  const delays: Case = { name: 'one payment until it is in the book', baseline: 'PostgreSQL', subjects: [] };
  const requests: Case = { name: '8 refund requests at once', baseline: 'PostgreSQL', subjects: [] };
  for (const name of STORES) {
    progress(`starting a bookkeeper on ${name}`);
    const book = await startBenchBook(name, chain, keep);
    const desk = await openRefunds(book, chain);
    const sellAndWait = () => sellMany(book.ledger, 1, 1).then(() => waitUntilBooked(book));
    outboxes.subjects.push({ name, measure: () => drain(book, events) });
    delays.subjects.push({ name, measure: () => timeEach(1, Array(payments).keys(), sellAndWait) });
    requests.subjects.push({ name, measure: () => requestRefunds(desk, refunds, 8) });
  }
  return runRounds([outboxes, delays, requests], rounds, progress);
}

/** Fills the outbox while the bookkeeper stands still, and takes the time from there until all is acknowledged. */
async function drain(book: BenchBook, events: number): Promise<Sample> {
  book.bookkeeper.signal('SIGSTOP');
  await sellMany(book.ledger, events, SOLD_AT_ONCE);
  book.bookkeeper.signal('SIGCONT');
  const startedMs = performance.now();
  await waitUntilBooked(book);
  return summarize(events, performance.now() - startedMs, []);
}

async function waitUntilBooked({ redis }: BenchBook): Promise<void> {
  while (!(await isAllBooked(redis))) await sleep(LOOK_EVERY_MS);
}
