import type { Cluster, Redis } from 'ioredis';

import { restoreContinuity } from './continuity.js';
import { LedgerUnavailableError } from './ledger-error.js';
import { LEDGER_SCRIPTS, type ScriptName } from './ledger-scripts.js';
import { RedisClock } from './redis-clock.js';

export interface ScriptRunnerOptions {
  redis: Redis | Cluster;
  timeoutMs: number;
  retentionMs: number;
}

type ScriptArgument = string | number | Buffer;

/** Runs the ledger's scripts on a Redis whose continuity was checked; never falls back to EVAL. */
export class ScriptRunner {
  readonly clock = new RedisClock();
  #restoring: Promise<unknown> | null = null;

  constructor(private readonly options: ScriptRunnerOptions) {}

  /** Checks continuity once for all concurrent callers. Pass a head only if it was just read. */
  restore(headBlockNumber: number | null): Promise<unknown> {
    this.#restoring ??= restoreContinuity(this.options.redis, {
      headBlockNumber,
      retentionMs: this.options.retentionMs,
    }).finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  /**
   * Runs one script and returns its reply without the leading clock.
   * @throws LedgerUnavailableError when Redis does not answer in time or does not write
   */
  run(
    name: ScriptName,
    keys: string[],
    args: ScriptArgument[],
    headBlockNumber: number | null = null,
  ): Promise<string[]> {
    return this.within(this.#run(name, keys, args, headBlockNumber));
  }

  /**
   * Limits the wait for Redis and turns every failure into LedgerUnavailableError: a missing answer is never a verdict.
   */
  async within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const { timeoutMs } = this.options;
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      return await Promise.race([work, timeout]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new LedgerUnavailableError(`The ledger's Redis is unavailable: ${reason}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(
    name: ScriptName,
    keys: string[],
    args: ScriptArgument[],
    headBlockNumber: number | null,
  ): Promise<string[]> {
    const { sha } = LEDGER_SCRIPTS[name];
    for (let attempt = 1; ; attempt++) {
      const sentAtMs = performance.now();
      try {
        const [now, ...reply] = (await this.options.redis.evalsha(sha, keys.length, ...keys, ...args)) as string[];
        this.clock.observe(Number(now), sentAtMs);
        if (reply[0] !== 'discontinued') return reply;
        if (attempt > 2) throw new Error('the server keeps changing');
      } catch (error) {
        const unknown = error instanceof Error && error.message.startsWith('NOSCRIPT');
        if (!unknown || attempt > 2) throw error;
      }
      // The server was restarted, failed over or replaced since the scripts were loaded.
      await this.restore(headBlockNumber);
    }
  }
}
