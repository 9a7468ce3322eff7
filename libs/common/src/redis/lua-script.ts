import { createHash } from 'node:crypto';

import type { Redis } from 'ioredis';

/** A Lua script sent by its hash, and in full when Redis does not know it (first use, restart, another server). */
export class LuaScript {
  readonly #sha: string;

  constructor(private readonly lua: string) {
    this.#sha = createHash('sha1').update(lua).digest('hex');
  }

  /** `keys`: one key, or several of one cluster slot. */
  async run(redis: Redis, keys: string | readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const named = typeof keys === 'string' ? [keys] : keys;
    try {
      return await redis.evalsha(this.#sha, named.length, ...named, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(this.lua, named.length, ...named, ...args);
    }
  }
}
