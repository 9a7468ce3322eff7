import type { Redis } from 'ioredis';

/** By name: resolves when the thing works, rejects when it does not. An object it resolves with stands in the body. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<Record<string, unknown> | void>>>;

export const READINESS_CHECKS = Symbol('readiness checks');

/** Redis answers, and on a connection that is not merely queueing commands. */
export function checkRedis(redis: Redis): () => Promise<void> {
  return async () => {
    if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
    await redis.ping();
  };
}
