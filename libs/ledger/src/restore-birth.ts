import type { RedisClient } from '@tollgate/redis';

const BIRTH_KEY = /^tollgate:\{pay-\d+\}:birth$/;

export const isBirthKey = (key: string): boolean => BIRTH_KEY.test(key);

/**
 * Writes a bucket's birth from its serialized copy so that the next guard raises it and starts a new epoch: no run of a
 * server vouches for the copy, not even the run that wrote it.
 */
export async function restoreBirth(redis: RedisClient, key: string, value: Buffer): Promise<void> {
  const replies = await redis
    .multi()
    .restore(key, 0, value, 'REPLACE')
    .hset(key, 'run', 'restored', 'process', '', 'durable', '0')
    .exec();
  for (const [error] of replies ?? []) if (error) throw error;
}
