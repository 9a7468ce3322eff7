import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { startBenchChain } from '../../bench-chain.js';
import type { LaneOptions, LaneResult, LaneRow } from '../../lane.js';
import { formatNumber } from '../../report.js';
import { withCleanup, type KeepUntilEnd } from '../../with-cleanup.js';
import { measurePaidStacks, type PaidStack } from '../paid-stacks.js';
import { measureBookedLedger } from './booked-ledger.js';
import { measureBookkeepers } from './bookkeepers.js';
import { measureBursts } from './burst.js';
import { startBenchBookkeeper } from './start-bench-bookkeeper.js';

const PAID_IN_FLIGHT = 64;
/** More than a run writes, because without a bookkeeper nothing is taken out. */
const ENV = { BOOK: 'on', BOOK_OUTBOX_LIMIT: '10000000' };
const OFF = 'BOOK=off';

/** What reporting to the book costs, how much a bookkeeper takes in, and when a payment is in the book. */
export async function runBookLane(options: LaneOptions): Promise<LaneResult> {
  const paid = await withCleanup((keep) => measurePaid(options, keep));
  const ledger = await withCleanup((keep) => measureBookedLedger(options, keep));
  const bookkeepers = await withCleanup((keep) => measureBookkeepers(options, keep));
  const rate = paid.find(({ subject }) => subject === OFF)?.perSecond;
  const bursts = options.full ? await withCleanup((keep) => measureBursts(rate ?? 0, options, keep)) : [];
  return {
    lane: 'book',
    title: 'paid answers and commits with the book on and off, and bookkeepers alone',
    baseline: OFF,
    rows: [...paid, ...ledger, ...bookkeepers, ...bursts],
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
  keep(await startBenchBookkeeper({ store: 'PostgreSQL', redisUrl: redis.url, chain }));
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
