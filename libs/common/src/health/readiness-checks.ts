import type { Redis } from 'ioredis';

/**
 * Checks by name: each resolves when its dependency works and rejects when it does not. An object it resolves with is
 * put into the body.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<Record<string, unknown> | void>>>;

export const READINESS_CHECKS = Symbol('readiness checks');

/** Checks that Redis answers, and that the connection does not merely queue commands. */
export function checkRedis(redis: Redis): () => Promise<void> {
  return async () => {
    if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
    await redis.ping();
  };
}
