import type { RedisClient } from '@tollgate/redis';

/**
 * Checks by name: each resolves when its dependency works and rejects when it does not. An object it resolves with is
 * put into the body.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<Record<string, unknown> | void>>>;

export const READINESS_CHECKS = Symbol('readiness checks');

/** Checks that Redis answers, and that the connection does not merely queue commands. */
export function checkRedis(redis: RedisClient): () => Promise<void> {
  return async () => {
    if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
    if (!redis.isCluster) return void (await redis.ping());
    // A cluster without one of its shards still answers PING.
    if (!(await redis.cluster('INFO')).includes('cluster_state:ok')) throw new Error('the cluster is down');
  };
}
