import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { createOperatorKey } from '../../../tools/devnet/stack/create-operator-key.js';
import { startBenchChain } from '../../bench-chain.js';
import { noteProgress } from '../../fail-when-stalled.js';
import type { LaneOptions, LaneResult, LaneRow } from '../../lane.js';
import { withCleanup, type KeepUntilEnd } from '../../with-cleanup.js';
import { openBenchLedger, sell } from './booked-ledger.js';
import { readLag } from './bookkeepers.js';
import { startBenchBookkeeper, STORES, type BookStore } from './start-bench-bookkeeper.js';

const SOLD_AT_ONCE = 128;
const PROBE_EVERY_MS = 20;
const LOOK_EVERY_MS = 20;
/** Without a reading. */
const IDLE_MS = 3_000;
const ENV = { OPERATOR_RATE_LIMIT_PER_MINUTE: '0', OPERATOR_WRITES_PER_DAY: '0' };
/** Below `/operator`. */
const READINGS = {
  none: null,
  'export of payments': 'exports/payments',
  'export of entries': 'exports/entries',
  backup: 'backup',
  verification: 'verification',
} as const;

/** How long a live probe and a payment's way into the book take at most while the whole book is read. */
export async function runReadingsLane(options: LaneOptions): Promise<LaneResult> {
  const rows: LaneRow[] = [];
  for (const store of STORES) rows.push(...(await withCleanup((keep) => measureStore(store, options, keep))));
  return { lane: 'readings', title: 'a live probe and a sale while the whole book is read', rows };
}

async function measureStore(
  store: BookStore,
  { rounds, quick, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const payments = quick ? 2_000 : 60_000;
  const chain = keep(await startBenchChain());
  const server = keep(await startRedis());
  const redis = new Redis(server.url);
  keep({ stop: async () => redis.disconnect() });
  const { bookkeeper } = await startBenchBookkeeper(store, { redis: server, chain, env: ENV }, keep);
  if (bookkeeper === null) throw new Error('no bookkeeper was started');
  const headers = { Authorization: `Bearer ${await createOperatorKey(server.url)}` };
  const ledger = await openBenchLedger(server.url, true, keep);
  const waitUntilBooked = async (): Promise<void> => {
    for (; (await readLag(redis)) > 0; await sleep(LOOK_EVERY_MS)) noteProgress();
  };
  await sell(ledger, payments, SOLD_AT_ONCE);
  await waitUntilBooked();
  progress(`${payments} payments are booked on ${store}`);

  const probe = async (): Promise<void> => void (await (await fetch(`${bookkeeper.url}/health/live`)).text());
  const sellOne = async (): Promise<void> => {
    await sell(ledger, 1, 1);
    await waitUntilBooked();
  };
  const read = async (path: string | null): Promise<number> => {
    if (path === null) {
      await sleep(IDLE_MS);
      return 0;
    }
    const answer = await fetch(`${bookkeeper.url}/operator/${path}`, { headers });
    if (!answer.ok) throw new Error(`/operator/${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.arrayBuffer()).byteLength;
  };

  const rows: LaneRow[] = [];
  for (const [name, path] of Object.entries(READINGS)) {
    const worst = { 'slowest probe ms': 0, 'slowest sale ms': 0, 'read s': 0, MB: 0 };
    for (let round = 0; round < rounds; round++) {
      const reading = { isOver: false };
      const begunMs = performance.now();
      const bytes = read(path).finally(() => (reading.isOver = true));
      const [probeMs, saleMs, size] = await Promise.all([
        timeSlowest(probe, PROBE_EVERY_MS, reading),
        timeSlowest(sellOne, 0, reading),
        bytes,
      ]);
      noteProgress();
      worst['slowest probe ms'] = Math.max(worst['slowest probe ms'], Math.round(probeMs));
      worst['slowest sale ms'] = Math.max(worst['slowest sale ms'], Math.round(saleMs));
      worst['read s'] = Math.max(worst['read s'], Math.round(performance.now() - begunMs) / 1000);
      worst.MB = Math.round(size / 1e5) / 10;
    }
    rows.push({ case: `${payments} payments, ${name}`, subject: store, detail: worst });
  }
  return rows;
}

/** Repeats work until the reading is over, and takes the longest time. */
async function timeSlowest(
  work: () => Promise<void>,
  pauseMs: number,
  reading: { readonly isOver: boolean },
): Promise<number> {
  let slowest = 0;
  while (!reading.isOver) {
    const begunMs = performance.now();
    await work();
    slowest = Math.max(slowest, performance.now() - begunMs);
    await sleep(pauseMs);
  }
  return slowest;
}
