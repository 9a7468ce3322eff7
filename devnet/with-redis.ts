import { Redis } from 'ioredis';

/** Does the work on a connection of its own. Commands are kept while it is made, so that errors of it need no telling. */
export async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
