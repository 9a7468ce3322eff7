import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { startBenchChain } from '../../bench-chain.js';
import { noteProgress } from '../../fail-when-stalled.js';
import type { LaneOptions, LaneRow } from '../../lane.js';
import { formatNumber } from '../../report.js';
import type { KeepUntilEnd } from '../../with-cleanup.js';
import { openBenchLedger, sell } from './booked-ledger.js';
import { readLag } from './bookkeepers.js';
import { startBenchBookkeeper, STORES } from './start-bench-bookkeeper.js';

const BURST_SECONDS = 600;
/** The share of the paid rate that a bookkeeper has to keep up with: a folder's is for one small machine. */
const SHARES = { PostgreSQL: 1, PGlite: 0.5 };
const SOLD_AT_ONCE = 64;
const LOOK_EVERY_MS = 100;
const PROGRESS_EVERY_SECONDS = 30;

/** Sells at a steady rate for ten minutes beside a bookkeeper, and takes the time from the end until the outbox is empty. */
export async function measureBursts(
  paidRate: number,
  { quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const seconds = quick ? 3 : BURST_SECONDS;
  const chain = keep(await startBenchChain());
  const rows: LaneRow[] = [];
  for (const store of STORES) {
    const rate = Math.round(paidRate * SHARES[store]);
    const { url } = keep(await startRedis());
    const redis = new Redis(url);
    keep({ stop: async () => redis.disconnect() });
    keep(await startBenchBookkeeper({ store, redisUrl: url, chain }));
    const ledger = await openBenchLedger(url, true, keep);
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
