import { Redis } from 'ioredis';

import { CommandError } from './cli-command.js';

/**
 * Runs the work on a Redis connection, and disconnects. It tries to connect only once, because a command is no service.
 * @throws CommandError when Redis does not answer; never with its URL, which may hold a password
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
    // The error's message is only that the connection is closed; its code has no address in it.
    const reason = trouble?.code ?? trouble?.message ?? 'the connection was closed';
    throw new CommandError(`Redis did not answer (${reason}). Set REDIS_URL, or start one with npm run dev.`);
  } finally {
    redis.disconnect();
  }
}
