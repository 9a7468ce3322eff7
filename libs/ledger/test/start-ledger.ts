import { Redis } from 'ioredis';

import { startRedis, type RedisOptions, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Ledger } from '../src/ledger.js';
import type { LedgerOptions } from '../src/ledger-options.js';
import { HEAD_AT_BIRTH } from './sample-payments.js';

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
  const redis = new Redis(server.url);
  const ledger = new Ledger({ redis, timeoutMs: 30_000, ...ledgerOptions });
  await ledger.open({ headBlockNumber: HEAD_AT_BIRTH });
  const stop = async (): Promise<void> => {
    redis.disconnect();
    await server.stop();
  };
  return { server, redis, ledger, stop };
}
