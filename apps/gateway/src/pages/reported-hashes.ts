import type { Hex } from '@tollgate/protocol';
import { LuaScript, StoreUnavailableError, withTimeout, type RedisClient } from '@tollgate/redis';

import reportHash from './scripts/report-hash.lua';

const REPORT = new LuaScript(reportHash);
const ANSWERS_WITHIN_MS = 3_000;
const BUCKET_MS = 900_000;
/** Buckets that are read: the current one, and those before it. */
const BUCKETS = 3;
/** Reports in one bucket, some 200 bytes each. */
const MOST_REPORTS = 20_000;
/** For one lock: a stranger with the ticket may report false hashes before the payer does. */
const MOST_PER_LOCK = 16;
/** An address may report as much in three minutes: beyond it, its own oldest reports go first. */
const MOST_PER_NETWORK = 100;

/** A ticket's transaction is looked up no more often, by whatever gateway. */
export const LOOK_EVERY_MS = 5_000;

export interface HashReport {
  readonly lock: Hex;
  readonly txHash: Hex;
  /** Of the client, as `clientNetwork` names it. */
  readonly network: string;
}

/**
 * Which transactions phones say they paid with, by the lock of the challenge. The reports are bounded in number, are
 * forgotten after half an hour, and are claims of strangers: they are only ever tried, as a payer's own words are. Those
 * that a verifier has found to have paid are kept beside them, so that strangers can push none of them out.
 * Each operation throws StoreUnavailableError if Redis is unavailable.
 */
export class ReportedHashes {
  constructor(private readonly redis: RedisClient) {}

  /** Beyond the bounds, the oldest report of the same network is dropped for it; false where there is none. */
  async report({ lock, txHash, network }: HashReport, nowMs = Date.now()): Promise<boolean> {
    const bounds = [MOST_REPORTS, MOST_PER_LOCK, MOST_PER_NETWORK, BUCKETS * BUCKET_MS];
    const keys = [keyOf(bucketAt(nowMs), 'locks'), keyOf(bucketAt(nowMs), 'networks')];
    const isTaken = REPORT.run(this.redis, keys, [digitsOf(lock), digitsOf(txHash), network, ...bounds]);
    return (await within(isTaken)) === 1;
  }

  /** Whether the chain may be asked for a transaction under this lock now; not again for a while. */
  async mayLook(lock: Hex, nowMs = Date.now()): Promise<boolean> {
    const key = `${keyOf(bucketAt(nowMs), 'looks')}:${digitsOf(lock)}`;
    return (await within(this.redis.set(key, '', 'PX', LOOK_EVERY_MS, 'NX'))) === 'OK';
  }

  /** Notes a transaction that has paid, whatever strangers have reported; false where too many of this time have. */
  async notePaid(lock: Hex, txHash: Hex, nowMs = Date.now()): Promise<boolean> {
    const key = keyOf(bucketAt(nowMs), 'paid');
    if ((await within(this.redis.zcard(key))) >= MOST_REPORTS) return false;
    const noted = this.redis.multi().zadd(key, 0, `${digitsOf(lock)}${digitsOf(txHash)}`);
    await within(noted.pexpire(key, BUCKETS * BUCKET_MS).exec());
    return true;
  }

  /** The hashes that were reported for a lock. */
  async find(lock: Hex, nowMs = Date.now()): Promise<Hex[]> {
    const digits = digitsOf(lock);
    const newest = bucketAt(nowMs);
    const buckets = Array.from({ length: BUCKETS }, (_, age) => newest - age).flatMap((bucket) => [
      ...[keyOf(bucket, 'paid'), keyOf(bucket, 'locks')],
    ]);
    // `g` follows every hexadecimal digit.
    const read = (key: string) => this.redis.zrangebylex(key, `[${digits}`, `(${digits}g`);
    const found = (await within(Promise.all(buckets.map(read)))).flat();
    return [...new Set(found.map((member): Hex => `0x${member.slice(digits.length)}`))];
  }
}

function bucketAt(nowMs: number): number {
  return Math.floor(nowMs / BUCKET_MS);
}

function keyOf(bucket: number, kind: 'locks' | 'networks' | 'paid' | 'looks'): string {
  return `tollgate:reported-hashes:{${bucket}}:${kind}`;
}

function digitsOf(hash: Hex): string {
  return hash.slice(2).toLowerCase();
}

async function within<T>(work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(work, ANSWERS_WITHIN_MS);
  } catch (cause) {
    throw new StoreUnavailableError('ledger', 'The Redis that holds reported transactions is unavailable.', { cause });
  }
}
