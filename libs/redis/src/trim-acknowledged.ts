import type { RedisClient } from './connect-redis.js';
import { LuaScript } from './lua-script.js';
import trimAcknowledgedLua from './scripts/trim-acknowledged.lua';

const TRIM = new LuaScript(trimAcknowledgedLua);

/**
 * Trims what a consumer group of a stream has acknowledged, and returns how many entries are left. The group itself
 * writes nothing but its position, so whoever writes the stream trims it.
 */
export async function trimAcknowledged(redis: RedisClient, stream: string, group: string): Promise<number> {
  return Number(await TRIM.run(redis, stream, [group]));
}
