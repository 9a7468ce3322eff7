import type { Cluster, Redis } from 'ioredis';

import { BUCKETS, birthKey } from './keys.js';
import { LedgerError } from './ledger-error.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { GUARD_LUA } from './scripts/guard.lua.js';

/**
 * The state of a bucket at this run of its server: `created`; `same` run as before; `kept`, restarted without losing
 * writes; `raised`, restarted with a possible loss.
 */
export type BucketContinuity = 'created' | 'same' | 'kept' | 'raised';

export interface ContinuityTerms {
  headBlockNumber: number | null;
  retentionMs: number;
}

/**
 * Makes sure that a loss of data in Redis lets no payment be spent twice, then loads the scripts. A bucket whose data
 * may lack acknowledged writes gets a new birth, and payments from before its birth are refused. Redis forgets its
 * scripts when it stops, so a missing script is what brings a running process back here.
 * @throws LedgerError when Redis is unfit for a ledger; the driver's errors when it does not answer
 */
export async function restoreContinuity(redis: Redis | Cluster, terms: ContinuityTerms): Promise<BucketContinuity[]> {
  const servers = redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
  const durable = (await Promise.all(servers.map(assertFit))).every(Boolean);
  const buckets = await Promise.all(
    Array.from({ length: BUCKETS }, (_, bucket) =>
      redis.eval(
        GUARD_LUA,
        1,
        birthKey(bucket),
        durable ? '1' : '0',
        terms.headBlockNumber ?? '',
        String(terms.retentionMs),
      ),
    ),
  );
  await Promise.all(
    servers.flatMap((server) => Object.values(LEDGER_SCRIPTS).map(({ lua }) => server.script('LOAD', lua))),
  );
  return buckets as BucketContinuity[];
}

/** Refuses a server that could drop payments; returns whether it persists every write before acknowledging it. */
async function assertFit(server: Redis): Promise<boolean> {
  const info = await server.info();
  const field = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const major = Number.parseInt(field('redis_version'), 10);
  if (major < 7) {
    throw new LedgerError('redis_too_old', `Redis ${field('redis_version')} is too old.`, 'Use Redis or Valkey 7+.');
  }
  if (field('role') !== 'master') {
    throw new LedgerError('redis_read_only', 'This Redis is a replica.', 'Point REDIS_URL at the primary.');
  }
  const policy = field('maxmemory_policy');
  if (policy !== 'noeviction') {
    throw new LedgerError(
      'redis_evicts',
      `Redis evicts keys when memory is short (maxmemory-policy ${policy}): an evicted payment could be spent again.`,
      'Set maxmemory-policy to noeviction, or give the ledger its own Redis.',
    );
  }
  if (field('aof_enabled') !== '1') return false;
  // Managed services refuse CONFIG. The setting is then unknown, and a restart counts as a loss.
  const fsync = await server.config('GET', 'appendfsync').catch(() => null);
  return Array.isArray(fsync) && fsync[1] === 'always';
}
