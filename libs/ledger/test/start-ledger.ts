import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { Ledger } from '../src/ledger.js';
import type { LedgerOptions } from '../src/types.js';
import { HEAD_AT_BIRTH } from './sample-payments.js';

/** A server that hangs fails the test at once, and not after the two minutes that each of its tests may take. */
const ANSWER_WITHIN_MS = 15_000;

export interface StartedLedger {
  readonly server: BorrowedRedis;
  readonly redis: Redis;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

/** An open ledger in an empty Redis. */
export async function startLedger(options: Partial<LedgerOptions> = {}): Promise<StartedLedger> {
  const server = await borrowRedis();
  const redis = new Redis(server.url, { commandTimeout: ANSWER_WITHIN_MS });
  const ledger = new Ledger({ redis, timeoutMs: 30_000, ...options });
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await server.stop();
  };
  try {
    await ledger.open({ headBlockNumber: HEAD_AT_BIRTH });
  } catch (error) {
    // Left running, they would keep Jest from ending.
    await stop();
    throw error;
  }
  return { server, redis, ledger, stop };
}
