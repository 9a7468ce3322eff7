import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { startPostgres } from '../../../tools/devnet/processes/postgres.js';
import type { RedisServer } from '../../../tools/devnet/processes/redis.js';
import { startStack, type Stack } from '../../../tools/devnet/stack/stack.js';
import type { KeepUntilEnd } from '../../with-cleanup.js';

export const STORES = ['PostgreSQL', 'PGlite'] as const;
export type BookStore = (typeof STORES)[number];

/** A bookkeeper alone, with an empty book: in a PostgreSQL server of its own, or in a folder. */
export async function startBenchBookkeeper(
  store: BookStore,
  { env, ...place }: { redis: RedisServer; chain: Devnet; env?: Record<string, string> },
  keep: KeepUntilEnd,
): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-book-'));
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const url = store === 'PostgreSQL' ? keep(await startPostgres()).url : null;
  return keep(
    await startStack({
      ...{ ...place, gateways: 0, verifiers: 0, relayers: 0 },
      book: { folder: join(folder, 'book'), signingKey: randomBytes(32).toString('hex') },
      env: { NODE_ENV: 'production', LOG_LEVEL: 'warn', ...env },
      // Without the comparison with the chain.
      serviceEnv: { bookkeeper: { RECONCILE_RPC_URL: '', ...(url && { BOOK_FOLDER: '', BOOK_DATABASE_URL: url }) } },
    }),
  );
}
