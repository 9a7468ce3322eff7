import { randomBytes } from 'node:crypto';

import { BUCKETS } from '@tollgate/ledger';
import type { Redis } from 'ioredis';

import { formatNumber } from '../report.js';

const BATCH = 1_000;
const TOLD_EVERY = 100_000;

/** Copies a spent payment's entry under other transaction hashes until `to` such copies stand in the ledger. */
export async function fillLedger(
  redis: Redis,
  { from, to, progress }: { from: number; to: number; progress: (text: string) => void },
): Promise<void> {
  const { name, fields, ttlMs } = await readSample(redis);
  const [, chainId] = /:tx:(\d+):/.exec(name) ?? [];
  for (let start = from; start < to; start += BATCH) {
    if (start % TOLD_EVERY === 0)
      progress(`filling the ledger: ${formatNumber(start)} of ${formatNumber(to)} payments`);
    const pipeline = redis.pipeline();
    for (let index = start; index < Math.min(start + BATCH, to); index++) {
      const key = `tollgate:{pay-${index % BUCKETS}}:tx:${chainId}:0x${randomBytes(32).toString('hex')}`;
      pipeline.hset(key, ...fields);
      if (ttlMs > 0) pipeline.pexpire(key, ttlMs);
    }
    await pipeline.exec();
  }
}

/** From the text of INFO, the processor time that Redis's main thread has spent, which is what bounds a ledger that many processes share. */
export function serverMicros(info: string): number {
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
  return (seconds('used_cpu_sys_main_thread') + seconds('used_cpu_user_main_thread')) * 1e6;
}

/** Redis's own count of the bytes that it uses. */
export async function readMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

async function readSample(redis: Redis): Promise<{ name: string; fields: Buffer[]; ttlMs: number }> {
  const pages = redis.scanStream({ match: 'tollgate:{pay-*}:tx:*', count: 1000 }) as AsyncIterable<string[]>;
  for await (const [name] of pages) {
    if (name === undefined) continue;
    // Records are bytes, not text.
    const entries = await redis.hgetallBuffer(name);
    const fields = Object.entries(entries).flatMap(([field, value]) => [Buffer.from(field), value]);
    return { name, fields, ttlMs: await redis.pttl(name) };
  }
  throw new Error('there is no spent payment in the ledger to copy');
}
