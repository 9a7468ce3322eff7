import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { startBenchChain } from '../../bench-chain.js';
import { noteProgress } from '../../fail-when-stalled.js';
import type { LaneOptions, LaneResult, LaneRow } from '../../lane.js';
import { formatNumber } from '../../report.js';
import { withCleanup, type KeepUntilEnd } from '../../with-cleanup.js';
import { measurePaidStacks, type PaidStack } from '../paid-stacks.js';
import { measureBookedLedger, openBenchLedger, sell } from './booked-ledger.js';
import { measureBookkeepers, readLag } from './bookkeepers.js';
import { measureRefundRequests } from './refund-requests.js';
import { startBenchBookkeeper, STORES } from './start-bench-bookkeeper.js';

const PAID_IN_FLIGHT = 64;
/** More than a run writes, because without a bookkeeper nothing is taken out. */
const ENV = { BOOK: 'on', BOOK_OUTBOX_LIMIT: '10000000' };
const OFF = 'BOOK=off';

/** What reporting to the book costs, how much a bookkeeper takes in, and when a payment is in the book or a refund in the journal. */
export async function runBookLane(options: LaneOptions): Promise<LaneResult> {
  const paid = await withCleanup((keep) => measurePaid(options, keep));
  const ledger = await withCleanup((keep) => measureBookedLedger(options, keep));
  const bookkeepers = await withCleanup((keep) => measureBookkeepers(options, keep));
  const refunds = await withCleanup((keep) => measureRefundRequests(options, keep));
  const rate = paid.find(({ subject }) => subject === OFF)?.perSecond;
  const bursts = options.full ? await withCleanup((keep) => measureBursts(rate ?? 0, options, keep)) : [];
  return {
    lane: 'book',
    title: 'paid answers and commits with the book on and off, and bookkeepers alone',
    baseline: OFF,
    rows: [...paid, ...ledger, ...bookkeepers, ...refunds, ...bursts],
    notes: bookkeepers
      .filter(({ case: name }) => name.startsWith('outbox'))
      .map(({ subject, perSecond = NaN }) => {
        const ratio = formatNumber(perSecond / (rate ?? NaN));
        return `A bookkeeper on ${subject} takes in ${ratio} times the paid answers of ${OFF}, with the machine to itself.`;
      }),
  };
}

async function measurePaid(options: LaneOptions, keep: KeepUntilEnd): Promise<LaneRow[]> {
  const chain = keep(await startBenchChain());
  const redis = keep(await startRedis());
  await startBenchBookkeeper('PostgreSQL', { redis, chain }, keep);
  const stacks: PaidStack[] = [
    { name: OFF, options: {} },
    { name: 'BOOK=on', options: { env: ENV } },
    {
      name: 'BOOK=on, with a bookkeeper on PostgreSQL',
      options: { env: ENV, redis: { url: redis.url, servers: [redis] } },
    },
  ];
  const name = `paid, ${PAID_IN_FLIGHT} in flight`;
  const terms = { name, inFlight: PAID_IN_FLIGHT, requests: options.quick ? 500 : 2_000 };
  return measurePaidStacks(chain, stacks, terms, options, keep);
}

const BURST_SECONDS = 600;
/** The share of the paid rate that a bookkeeper has to keep up with: a folder's is for one small machine. */
const SHARES = { PostgreSQL: 1, PGlite: 0.5 };
const SOLD_AT_ONCE = 64;
const LOOK_EVERY_MS = 100;
const PROGRESS_EVERY_SECONDS = 30;

/** Sells at a steady rate for ten minutes beside a bookkeeper, and takes the time from the end until the outbox is empty. */
async function measureBursts(
  paidRate: number,
  { quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const seconds = quick ? 3 : BURST_SECONDS;
  const chain = keep(await startBenchChain());
  const rows: LaneRow[] = [];
  for (const store of STORES) {
    const rate = Math.round(paidRate * SHARES[store]);
    const server = keep(await startRedis());
    const redis = new Redis(server.url);
    keep({ stop: async () => redis.disconnect() });
    await startBenchBookkeeper(store, { redis: server, chain }, keep);
    const ledger = await openBenchLedger(server.url, true, keep);
    const startedMs = performance.now();
    let [sold, most] = [0, 0];
    for (let second = 1; second <= seconds; second++) {
      await sell(ledger, rate, SOLD_AT_ONCE);
      sold += rate;
      if (second % PROGRESS_EVERY_SECONDS === 0 || second === seconds) {
        most = Math.max(most, await readLag(redis));
        progress(`burst beside ${store}: ${formatNumber(sold)} sold, at most ${formatNumber(most)} waiting`);
      }
      await sleep(Math.max(0, startedMs + second * 1000 - performance.now()));
    }
    const endedMs = performance.now();
    for (; (await readLag(redis)) > 0; await sleep(LOOK_EVERY_MS)) noteProgress();
    rows.push({
      ...{ case: `burst of ${seconds} s`, subject: store, perSecond: sold / ((endedMs - startedMs) / 1000) },
      detail: { 'most waiting': most, 's until empty': (performance.now() - endedMs) / 1000 },
    });
  }
  return rows;
}
