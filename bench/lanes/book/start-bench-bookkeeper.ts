import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { startPostgres } from '../../../tools/devnet/processes/postgres.js';
import { startService, type ServiceProcess } from '../../../tools/devnet/processes/service-process.js';

export const STORES = ['PostgreSQL', 'PGlite'] as const;
export type BookStore = (typeof STORES)[number];

interface BookkeeperTerms {
  store: BookStore;
  redisUrl: string;
  chain: { chainId: number; rpcUrl: string; asset: string; payTo: string };
}

/** A bookkeeper with an empty book: in a PostgreSQL server of its own, or in a folder. */
export async function startBenchBookkeeper({ store, redisUrl, chain }: BookkeeperTerms): Promise<ServiceProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-book-'));
  const postgres = store === 'PostgreSQL' ? await startPostgres() : null;
  const port = await findFreePort();
  const service = await startService({
    app: 'bookkeeper',
    name: `bookkeeper on ${store}`,
    url: `http://127.0.0.1:${port}`,
    env: {
      ...{ PATH: process.env['PATH'], NODE_ENV: 'production', LOG_LEVEL: 'warn', REDIS_URL: redisUrl },
      ...{ RPC_URL: chain.rpcUrl, CHAIN_ID: String(chain.chainId), ASSET_ADDRESS: chain.asset, PAY_TO: chain.payTo },
      ...{ BOOKKEEPER_PORT: String(port), BOOK_SIGNING_KEY: randomBytes(32).toString('hex') },
      ...(postgres === null ? { BOOK_FOLDER: join(folder, 'book') } : { BOOK_DATABASE_URL: postgres.url }),
    },
  });
  return {
    ...service,
    get pid() {
      return service.pid;
    },
    get exited() {
      return service.exited;
    },
    stop: async () => {
      await service.stop();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
