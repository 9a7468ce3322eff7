import type { Cluster, Redis } from 'ioredis';

import type { AcknowledgedCommands } from './acknowledged-commands.js';
import { explainRedisRefusals } from './explain-redis-refusal.js';
import { isScriptMissing, type LuaScript } from './lua-script.js';
import { RedisClock } from './redis-clock.js';
import { withTimeout } from './with-timeout.js';

export interface ScriptRunnerOptions<Terms> {
  redis: Redis | Cluster;
  timeoutMs: number;
  /** Holds every reply back until the replicas have what it rests on. */
  acknowledged?: AcknowledgedCommands | undefined;
  /** Checks the servers, loads the scripts, and compares the store with the run of its servers. */
  restore: (terms: Terms) => Promise<unknown>;
  /** What a caller gets when Redis does not answer in time, does not write, or is unfit. */
  toError: (reason: string, error: unknown) => Error;
}

export type ScriptArgument = string | number | Buffer;

interface ScriptCall<Reply> {
  keys: string[];
  args: ScriptArgument[];
  /** `sentAtMs`: `performance.now()` before the request. */
  read: (reply: unknown, sentAtMs: number) => Reply | null;
}

const MOST_ATTEMPTS = 3;

/**
 * Runs a store's scripts on a Redis that was checked. It never falls back to EVAL: a server that does not know a script
 * was restarted, failed over or replaced, and is checked again first.
 */
export class ScriptRunner<Terms = void> {
  readonly clock: RedisClock;
  #restoring: Promise<unknown> | null = null;

  constructor(private readonly options: ScriptRunnerOptions<Terms>) {
    this.clock = new RedisClock(options.redis);
  }

  /** Concurrent callers share one run. */
  restore(terms: Terms): Promise<unknown> {
    const { redis, restore } = this.options;
    this.#restoring ??= explainRedisRefusals(redis, restore(terms)).finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  /**
   * Runs a script that returns Redis's clock first, and `discontinued` second when the store must be compared again.
   * Returns the rest of the reply.
   */
  run(script: LuaScript, keys: string[], args: ScriptArgument[], terms: Terms): Promise<string[]> {
    const read = (reply: unknown, sentAtMs: number): string[] | null => {
      const [now, ...rest] = reply as string[];
      // A reply that was held back says nothing about the middle of its round trip.
      if (this.options.acknowledged === undefined) this.clock.observe(Number(now), sentAtMs);
      return rest[0] === 'discontinued' ? null : rest;
    };
    return this.evaluate(script, { keys, args, read }, terms);
  }

  /** Runs a script and returns its reply as `read` does; when that is null, the store is compared again first. */
  evaluate<Reply>(script: LuaScript, call: ScriptCall<Reply>, terms: Terms): Promise<Reply> {
    return this.within(this.#evaluate(script, call, terms));
  }

  /** Limits the wait for Redis and maps every failure to the store's error: a missing answer decides nothing. */
  async within<T>(work: Promise<T>): Promise<T> {
    try {
      return await withTimeout(work, this.options.timeoutMs);
    } catch (error) {
      throw this.options.toError(error instanceof Error ? error.message : String(error), error);
    }
  }

  async #evaluate<Reply>({ sha }: LuaScript, { keys, args, read }: ScriptCall<Reply>, terms: Terms): Promise<Reply> {
    const { redis, acknowledged } = this.options;
    for (let attempt = 1; ; attempt++) {
      const sentAtMs = performance.now();
      try {
        const raw = acknowledged
          ? await acknowledged.run(keys[0] ?? '', ['evalsha', sha, keys.length, ...keys, ...args])
          : await redis.evalsha(sha, keys.length, ...keys, ...args);
        const reply = read(raw, sentAtMs);
        if (reply !== null) return reply;
        if (attempt === MOST_ATTEMPTS) throw new Error('the server keeps changing');
      } catch (error) {
        if (!isScriptMissing(error) || attempt === MOST_ATTEMPTS) throw error;
      }
      await this.restore(terms);
    }
  }
}
