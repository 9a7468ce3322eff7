import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a running `npm run dev` tells of itself, as far as commands need it. */
interface DevPlace {
  redisUrl?: string;
  rpcUrl?: string;
}

const DEFAULT_REDIS_URL = 'redis://127.0.0.1:6379';

/** The journal's Redis: `given`, else REDIS_URL, else that of a running `npm run dev`, else the usual one. */
export function findRedisUrl(given: string | undefined): string {
  return given ?? (process.env['REDIS_URL'] || (readDevPlace().redisUrl ?? DEFAULT_REDIS_URL));
}

/** The chain's RPC servers: `given`, else RPC_URL, comma separated, else that of a running `npm run dev`; else none. */
export function findRpcUrls(given: string | undefined): string[] {
  const text = given ?? (process.env['RPC_URL'] || (readDevPlace().rpcUrl ?? ''));
  return text
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

function readDevPlace(): DevPlace {
  const stateFile = join(process.env['TOLLGATE_STATE_DIR'] || '.tollgate', 'dev.json');
  return existsSync(stateFile) ? (JSON.parse(readFileSync(stateFile, 'utf8')) as DevPlace) : {};
}
