import { Redis } from 'ioredis';

import { startRedis, type RedisOptions, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Ledger } from '../src/ledger.js';
import type { LedgerOptions } from '../src/types.js';
import { HEAD_AT_BIRTH } from './sample-payments.js';

/** A server that hangs fails the test at once, and not after the two minutes that each of its tests may take. */
const ANSWER_WITHIN_MS = 15_000;

export interface StartedLedger {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

/** An open ledger with its own Redis server. */
export async function startLedger(
  options: RedisOptions = {},
  ledgerOptions: Partial<LedgerOptions> = {},
): Promise<StartedLedger> {
  const server = await startRedis(options);
  const redis = new Redis(server.url, { commandTimeout: ANSWER_WITHIN_MS });
  const ledger = new Ledger({ redis, timeoutMs: 30_000, ...ledgerOptions });
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
