import { createRedis, explainRedisRefusal, findNodeTrouble, type RedisClient, StoreError } from '@tollgate/redis';

import { CommandError } from './cli-command.js';
import type { CommandPlace } from './find-place.js';

/**
 * Runs the work on a Redis connection, and disconnects. It tries to connect only once, because a command is no service.
 * @throws CommandError when Redis does not answer; never with its URL, which may hold a password
 */
export async function withRedis<T>({ url, hint }: CommandPlace, work: (redis: RedisClient) => Promise<T>): Promise<T> {
  const redis = createOnce(url);
  let trouble: NodeJS.ErrnoException | undefined;
  redis.on('error', (error: NodeJS.ErrnoException) => (trouble = error));
  // Says what the error that follows does not: which Sentinel answered what.
  let sentinelTrouble: Error | undefined;
  redis.on('sentinelError', (error: Error) => (sentinelTrouble = error));
  try {
    await redis.connect();
    return await work(redis);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const refusal = redis.status === 'end' ? null : explainRedisRefusal(error, redis);
    if (refusal) throw new CommandError(`${refusal.message} ${refusal.hint}`);
    if (redis.status !== 'end') throw error;
    // The error's message is only that the connection is closed; its code has no address in it.
    const cause = (await findNodeTrouble(url)) ?? trouble;
    const reason = sentinelTrouble?.message ?? cause?.code ?? cause?.message ?? 'the connection was closed';
    const message = `Redis did not answer (${reason}). Set REDIS_URL, or start one with npm run dev.`;
    throw new CommandError(hint === undefined ? message : `${message} ${hint}`);
  } finally {
    redis.disconnect();
  }
}

function createOnce(url: string): RedisClient {
  try {
    return createRedis(url, { lazyConnect: true, retryStrategy: () => null });
  } catch (error) {
    throw error instanceof StoreError ? new CommandError(`${error.message} ${error.hint}`) : error;
  }
}
