import { Redis } from 'ioredis';

import { CommandError } from './cli-command.js';

/**
 * Works with Redis and disconnects. It is tried once: a command is not a service.
 * @throws CommandError when it does not answer; never with its URL, which may hold a password
 */
export async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  let trouble: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => (trouble = error));
  try {
    await redis.connect();
    return await work(redis);
  } catch (error) {
    if (redis.status !== 'end') throw error;
    // The error itself says only that the connection is closed; the code has no address in it.
    const reason = trouble?.code ?? trouble?.message ?? 'the connection was closed';
    throw new CommandError(`Redis did not answer (${reason}). Set REDIS_URL, or start one with npm run dev.`);
  } finally {
    redis.disconnect();
  }
}
