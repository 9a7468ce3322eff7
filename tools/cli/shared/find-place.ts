import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of a running `npm run dev`'s dev.json that commands need. */
interface DevPlace {
  redisUrl?: string;
  rpcUrl?: string;
}

const DEFAULT_REDIS_URL = 'redis://127.0.0.1:6379';

/**
 * The journal's and the ledger's Redis: `given`, else REDIS_URL, else that of a running `npm run dev`, else the
 * default.
 */
export function findRedisUrl(given: string | undefined, env: NodeJS.ProcessEnv): string {
  return given ?? (env['REDIS_URL'] || (readDevPlace(env).redisUrl ?? DEFAULT_REDIS_URL));
}

/** The queues' Redis: `given`, else QUEUE_REDIS_URL, else the journal's. */
export function findQueueRedisUrl(
  { queueRedis, redis }: { queueRedis?: string; redis?: string },
  env: NodeJS.ProcessEnv,
): string {
  return queueRedis ?? (env['QUEUE_REDIS_URL'] || findRedisUrl(redis, env));
}

/** The chain's RPC servers: `given`, else RPC_URL, comma separated, else that of a running `npm run dev`; else none. */
export function findRpcUrls(given: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const text = given ?? (env['RPC_URL'] || (readDevPlace(env).rpcUrl ?? ''));
  return text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

function readDevPlace(env: NodeJS.ProcessEnv): DevPlace {
  const stateFile = join(env['TOLLGATE_STATE_DIR'] || '.tollgate', 'dev.json');
  return existsSync(stateFile) ? (JSON.parse(readFileSync(stateFile, 'utf8')) as DevPlace) : {};
}
