import { copyLane, isLaneKey, LANE_PATTERN, type CopiedKey } from '@tollgate/journal';
import { isBirthKey, REFUSED_SEEN, REFUSED_STREAM } from '@tollgate/ledger';
import { listPrimaries, type RedisClient } from '@tollgate/redis';
import { BOOK_POSITION } from '@tollgate/webhooks';
import type { Redis } from 'ioredis';

import { isCopiedAlone, PATTERN, scanKeys } from './which-keys.js';

/** A stored answer may have a mebibyte, so this bounds the memory. */
const KEYS_AT_ONCE = 64;

/**
 * Every key of Tollgate, while processes go on working. Lanes come first, so that the idempotency key of each job in the
 * copy is in it too; the position of the webhooks comes before what waits for them, so that the copy lacks no event; births
 * come last, so that no payment in the copy has a later epoch.
 */
export async function* copyServers(redis: RedisClient): AsyncGenerator<CopiedKey> {
  const primaries = listPrimaries(redis);
  for (const primary of primaries) yield* copyLanes(redis, primary);
  yield* copyTogether(redis, [REFUSED_SEEN, REFUSED_STREAM]);
  yield* copyTogether(redis, [BOOK_POSITION]);
  for (const primary of primaries) {
    for await (const keys of scanKeys(primary, PATTERN)) yield* copyEach(primary, keys.filter(isCopiedAlone));
  }
  for (const primary of primaries) {
    for await (const keys of scanKeys(primary, 'tollgate:{pay-*}:birth:*'))
      yield* copyEach(primary, keys.filter(isBirthKey));
  }
}

async function* copyLanes(redis: RedisClient, primary: Redis): AsyncGenerator<CopiedKey> {
  for await (const keys of scanKeys(primary, LANE_PATTERN)) {
    for (const lane of keys.filter(isLaneKey)) {
      const { keys: together, endedJobs } = await copyLane(redis, lane);
      yield* together;
      yield* copyEach(primary, endedJobs);
    }
  }
}

/** A key that is gone by now is left out. */
async function* copyEach(primary: Redis, keys: readonly string[]): AsyncGenerator<CopiedKey> {
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const chunk = keys.slice(at, at + KEYS_AT_ONCE);
    const pipeline = primary.pipeline();
    for (const key of chunk) pipeline.dumpBuffer(key).pexpiretime(key);
    yield* readCopies(chunk, await pipeline.exec());
  }
}

/** Keys of one slot, at one moment. */
async function* copyTogether(redis: RedisClient, keys: readonly string[]): AsyncGenerator<CopiedKey> {
  const transaction = redis.multi();
  for (const key of keys) transaction.dumpBuffer(key).pexpiretime(key);
  yield* readCopies(keys, await transaction.exec());
}

function* readCopies(keys: readonly string[], replies: [Error | null, unknown][] | null): Generator<CopiedKey> {
  const values = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  for (const [index, key] of keys.entries()) {
    const [value, expiresAtMs] = values.slice(2 * index) as [Buffer | null, number];
    if (value !== null) yield { key, value, expiresAtMs: expiresAtMs < 0 ? null : expiresAtMs };
  }
}
