import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';

/** What a test may do with a server of the Jest worker's. One that it kills, restarts or configures it starts itself. */
export type BorrowedRedis = Pick<RedisServer, 'url' | 'port' | 'stop'>;

interface KeptServer {
  readonly server: RedisServer;
  /** Its settings and users, as they were at its start. */
  readonly settings: string;
}

const CLOSED_WITHIN_MS = 500;
const PAUSE_MS = 5;
const idle: KeptServer[] = [];

/**
 * An empty Redis, which `stop` gives back for the worker's next test file. It writes its file without waiting for the disk,
 * and ends with the worker.
 */
export async function borrowRedis(): Promise<BorrowedRedis> {
  const kept = idle.pop() ?? (await startKept());
  const { url, port } = kept.server;
  return { url, port, stop: () => giveBack(kept) };
}

/** A client of an empty Redis for the tests of a file, which is connected for their hooks and them. */
export function useRedis(options: { commandTimeout?: number } = {}): Redis {
  const redis = new Redis({ ...options, host: '127.0.0.1', lazyConnect: true });
  redis.on('error', () => undefined);
  let server: BorrowedRedis;
  beforeAll(async () => {
    server = await borrowRedis();
    redis.options.port = server.port;
    await redis.connect();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  return redis;
}

/** For what connects by itself. */
export const urlOf = ({ options }: Redis): string => `redis://127.0.0.1:${options.port}`;

async function startKept(): Promise<KeptServer> {
  const server = await startRedis({ appendfsync: 'no' });
  server.unref();
  return ask(server, async (redis) => ({ server, settings: await readSettings(redis) }));
}

/** Stopped instead where a client is left, which might write to it later, or a setting was changed. */
async function giveBack(kept: KeptServer): Promise<void> {
  const isClean = await ask(kept.server, async (redis) => {
    if (!(await isAlone(redis)) || (await readSettings(redis)) !== kept.settings) return false;
    await redis.pipeline().flushall().script('FLUSH').call('FUNCTION', 'FLUSH').config('RESETSTAT').exec();
    return true;
  }).catch(() => false);
  if (isClean) idle.push(kept);
  else await kept.server.stop();
}

/** Connections that were closed just now are still listed for a moment. */
async function isAlone(redis: Redis): Promise<boolean> {
  for (const giveUpMs = Date.now() + CLOSED_WITHIN_MS; ; await sleep(PAUSE_MS)) {
    const clients = String(await redis.client('LIST')).trim();
    if (!clients.includes('\n')) return true;
    if (Date.now() > giveUpMs) return false;
  }
}

async function readSettings(redis: Redis): Promise<string> {
  return JSON.stringify([await redis.config('GET', '*'), await redis.acl('LIST')]);
}

async function ask<T>(server: RedisServer, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.url, { retryStrategy: null, commandTimeout: 15_000 });
  redis.on('error', () => undefined);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
