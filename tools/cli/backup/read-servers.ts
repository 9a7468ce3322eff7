import { listPrimaries, RESTORE_MARKER, type RedisClient } from '@tollgate/redis';
import type { Cluster } from 'ioredis';

import { CommandError } from '../shared/cli-command.js';

/** The servers, and the slots that each has. */
export interface Servers {
  redisVersion: string;
  /** Changes with a restart, a failover and a move of slots. */
  layout: string;
  nowMs: number;
}

/** @throws CommandError where there is no primary that holds a whole installation */
export async function readServers(redis: RedisClient): Promise<Servers> {
  if (redis.isCluster) await redis.ping();
  const primaries = listPrimaries(redis);
  const infos = await Promise.all(primaries.map((primary) => primary.info()));
  const field = (info: string, name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  if (infos.some((info) => field(info, 'role') !== 'master')) {
    throw new CommandError('This Redis is a replica, which may lack writes. Point REDIS_URL at the primary.');
  }
  const slots = redis.isCluster ? JSON.stringify(await (redis as Cluster).cluster('SLOTS')) : '';
  const times = await Promise.all(primaries.map((primary) => primary.time()));
  return {
    redisVersion: field(infos[0] ?? '', 'redis_version'),
    layout: [...infos.map((info) => field(info, 'run_id')).sort(), slots].join(),
    nowMs: Math.min(...times.map(([seconds, micros]) => Number(seconds) * 1000 + Math.floor(Number(micros) / 1000))),
  };
}

/** The copy whose restore has begun and not ended here; null: none. */
export function readHalfRestored(redis: RedisClient): Promise<string | null> {
  return redis.get(RESTORE_MARKER);
}
