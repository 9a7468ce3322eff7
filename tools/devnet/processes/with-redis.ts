import { createRedis, type RedisClient } from '@tollgate/redis';

/**
 * Does the work on a connection of its own. Commands wait while it connects, so its connection errors need no handling.
 */
export async function withRedis<T>(url: string, work: (redis: RedisClient) => Promise<T>): Promise<T> {
  const redis = createRedis(url, {});
  redis.on('error', () => undefined);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
