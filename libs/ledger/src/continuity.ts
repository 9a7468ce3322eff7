import { checkServers, loadScripts, StoreError, type ScriptRunner, type RedisClient } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import { BUCKETS, birthKey } from './keys.js';
import { CONTINUITY_SCRIPTS, LEDGER_SCRIPTS } from './ledger-scripts.js';

/**
 * How far the chain's clock may run ahead of Redis's clock, for a birth record without a block number; and how far those
 * of two servers of Redis may differ, which is less than entries are kept beyond their window.
 */
export const CLOCK_SKEW_MS = 30_000;

/**
 * The state of a bucket at this run of its server: `created`; `same` run as before; `kept`, restarted without losing
 * writes; `raised`, restarted with a possible loss, or its clock was ahead.
 */
export type BucketContinuity = 'created' | 'same' | 'kept' | 'raised';

/** A chain, and its newest block; null where that was not read just now. */
export interface ChainHead {
  chainId: number;
  blockNumber: number | null;
}

/** Runs the ledger's scripts on a Redis whose continuity was checked, for the chain that a script's birth is of. */
export type LedgerRunner = ScriptRunner<ChainHead | void>;

export interface ContinuityTerms {
  /** Whose births are compared. */
  chainIds: readonly number[];
  /** Its births are compared too. */
  head?: ChainHead | undefined;
  retentionMs: number;
  /** How many replicas must acknowledge the ledger's writes. */
  replicas: number;
  /** Whether every payment is reported to the book. */
  booked: boolean;
}

/**
 * Makes sure that a loss of data in Redis lets no payment be spent twice, then loads the scripts. A bucket whose data
 * may lack acknowledged writes gets a new birth for each chain, and payments from before its birth are refused. Redis
 * forgets its scripts when it stops, so a missing script is what brings a running process back here.
 * @throws StoreError when Redis is unfit for a ledger; the driver's errors when it does not answer
 */
export async function restoreContinuity(redis: Redis | Cluster, terms: ContinuityTerms): Promise<BucketContinuity[]> {
  const durable = await checkServers(redis, {
    store: 'ledger',
    eviction: 'An evicted payment could be spent again.',
    isAcknowledged: terms.replicas > 0,
  });
  const guard = (bucket: number, chainId: number): Promise<unknown> =>
    redis.eval(
      CONTINUITY_SCRIPTS.guard.lua,
      1,
      birthKey(bucket, chainId),
      durable ? '1' : '0',
      (terms.head?.chainId === chainId ? terms.head.blockNumber : null) ?? '',
      String(terms.retentionMs),
      String(terms.replicas),
      terms.booked ? '1' : '0',
      String(CLOCK_SKEW_MS),
    );
  const compared = new Set([...terms.chainIds, ...(terms.head ? [terms.head.chainId] : [])]);
  const buckets = await Promise.all(
    [...compared].flatMap((chainId) => Array.from({ length: BUCKETS }, (_, bucket) => guard(bucket, chainId))),
  );
  if (buckets.includes('durability_differs')) throw durabilityDiffers();
  await loadScripts(redis, Object.values(LEDGER_SCRIPTS));
  return buckets as BucketContinuity[];
}

/** Processes that use one ledger have different settings of its durability. */
export function durabilityDiffers(): StoreError {
  return new StoreError(
    'durability_differs',
    'Other processes wait for replicas (LEDGER_DURABILITY=replica), and this one does not, or for fewer.',
    'Set LEDGER_DURABILITY and LEDGER_REPLICAS as at the other processes.',
  );
}

const BIRTH_KEY = /^tollgate:\{pay-\d+\}:birth:\d+$/;

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
