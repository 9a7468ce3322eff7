import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { BOOK_GROUP, bucketEventsKey } from '@tollgate/book-events';
import { BUCKETS, type Ledger } from '@tollgate/ledger';
import type { Redis } from 'ioredis';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import { startPostgres } from '../tools/devnet/processes/postgres.js';
import { startRedis, type RedisServer } from '../tools/devnet/processes/redis.js';
import type { ServiceProcess } from '../tools/devnet/processes/service-process.js';
import { startStack } from '../tools/devnet/stack/stack.js';
import { openLedger } from './sales.js';
import type { KeepUntilEnd } from './with-cleanup.js';

export const STORES = ['PostgreSQL', 'PGlite'] as const;
type BookStore = (typeof STORES)[number];

export interface BenchBook {
  server: RedisServer;
  redis: Redis;
  ledger: Ledger;
  bookkeeper: ServiceProcess;
}

/** A bookkeeper alone, with an empty book in a PostgreSQL server of its own or in a folder, and a ledger for it. */
export async function startBenchBook(store: BookStore, chain: Devnet, keep: KeepUntilEnd): Promise<BenchBook> {
  const server = keep(await startRedis());
  const { redis, ledger } = await openLedger(server.url, true, keep);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-book-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const url = store === 'PostgreSQL' ? keep(await startPostgres()).url : null;
  const limits = { OPERATOR_RATE_LIMIT_PER_MINUTE: '0', OPERATOR_WRITES_PER_DAY: '0' };
  const { bookkeeper } = keep(
    await startStack({
      chain,
      redis: server,
      gateways: 0,
      verifiers: 0,
      relayers: 0,
      book: { folder: join(folder, 'book'), signingKey: randomBytes(32).toString('hex') },
      env: { NODE_ENV: 'production', LOG_LEVEL: 'warn', ...limits },
      // Without the comparison with the chain.
      serviceEnv: { bookkeeper: { RECONCILE_RPC_URL: '', ...(url && { BOOK_FOLDER: '', BOOK_DATABASE_URL: url }) } },
    }),
  );
  if (bookkeeper === null) throw new Error('no bookkeeper was started');
  return { server, redis, ledger, bookkeeper };
}

/** Whether all events are in the book. */
export async function isAllBooked(redis: Redis): Promise<boolean> {
  const pipeline = redis.pipeline();
  for (let bucket = 0; bucket < BUCKETS; bucket++) pipeline.xinfo('GROUPS', bucketEventsKey(bucket));
  const replies = (await pipeline.exec()) ?? [];
  return replies.every(([error, groups]) => {
    if (error) throw error;
    const group = (groups as unknown[][]).find((fields) => fields.includes(BOOK_GROUP)) ?? [];
    return ['lag', 'pending'].every((name) => group[group.indexOf(name) + 1] === 0);
  });
}
