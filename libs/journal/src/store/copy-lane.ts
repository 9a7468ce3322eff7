import { LuaScript, type RedisClient } from '@tollgate/redis';

import copyLaneScript from '../scripts/lane/copy-lane.lua';

/** A key as DUMP serializes it. `expiresAtMs`: null for a key that stays. */
export interface CopiedKey {
  key: string;
  expiresAtMs: number | null;
  value: Buffer;
}

export interface LaneCopy {
  /** The lane and all of its jobs that have not ended, as they were at one moment. */
  keys: CopiedKey[];
  /** Keys of the jobs that had ended by then, which no longer change. */
  endedJobs: string[];
}

const SCRIPT = new LuaScript(copyLaneScript);
const LANE_KEY = /^tollgate:\{\d{1,15}:0x[0-9a-f]{40}\}:lane$/;
const KEY_OF_A_LANE = /^tollgate:\{\d{1,15}:0x[0-9a-f]{40}\}:/;

/** Matches at least every lane of a Redis. */
export const LANE_PATTERN = 'tollgate:{*:0x*}:lane';

export const isLaneKey = (key: string): boolean => LANE_KEY.test(key);
export const isKeyOfLane = (key: string): boolean => KEY_OF_A_LANE.test(key);

/** Copies a lane, whatever works on it meanwhile. */
export async function copyLane(redis: RedisClient, laneKey: string): Promise<LaneCopy> {
  const reply = (await redis.callBuffer('EVAL', SCRIPT.lua, 1, laneKey)) as [Buffer[], [Buffer, number, Buffer][]];
  const [ended, copies] = reply;
  const root = laneKey.slice(0, -'lane'.length);
  return {
    keys: copies.map(([key, expiresAtMs, value]) => ({
      key: key.toString(),
      expiresAtMs: expiresAtMs < 0 ? null : expiresAtMs,
      value,
    })),
    endedJobs: ended.map((id) => `${root}job:${id.toString()}`),
  };
}

/**
 * Writes a copied lane key so that its next guard finds writes missing and freezes the lane: no run of a server vouches
 * for the copy, not even the run that wrote it. No process holds its lease.
 */
export async function restoreLane(redis: RedisClient, { key, value }: CopiedKey): Promise<void> {
  const replies = await redis
    .multi()
    .restore(key, 0, value, 'REPLACE')
    .hset(key, 'run', 'restored', 'process', '', 'durable', '0')
    .hdel(key, 'leaseOwner', 'leaseUntil', 'leaseLasts')
    .exec();
  for (const [error] of replies ?? []) if (error) throw error;
}
