import { createHash } from 'node:crypto';

import type { RedisClient } from './connect-redis.js';

/** A Lua script and the hash by which Redis caches it. */
export class LuaScript {
  readonly sha: string;

  constructor(readonly lua: string) {
    this.sha = createHash('sha1').update(lua).digest('hex');
  }

  /**
   * Sent by its hash, and in full when Redis does not know it: first use, restart, another server. For scripts whose
   * state may be lost; a store's scripts are run by its ScriptRunner. `keys`: one key, or several of one cluster slot.
   */
  async run(
    redis: RedisClient,
    keys: string | readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const named = typeof keys === 'string' ? [keys] : keys;
    // By `call`, which takes a list: a function of JavaScript takes some 100,000 arguments.
    const rest = [named.length, ...named, ...args];
    try {
      return await redis.call('evalsha', [this.sha, ...rest]);
    } catch (error) {
      if (!isScriptMissing(error)) throw error;
      return redis.call('eval', [this.lua, ...rest]);
    }
  }
}

export function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
