import type { Cluster, Redis } from 'ioredis';
import { restoreContinuity } from './continuity.js';
import { LedgerUnavailableError } from './ledger-error.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import type { ScriptName } from './ledger-scripts.js';
import { RedisClock } from './redis-clock.js';

export interface ScriptRunnerOptions {
  redis: Redis | Cluster;
  timeoutMs: number;
  retentionMs: number;
}

/** Runs the ledger's scripts on a Redis whose continuity was established; nothing here ever falls back to EVAL. */
export class ScriptRunner {
  readonly clock = new RedisClock();
  #headBlockNumber: number | null = null;
  #restoring: Promise<unknown> | null = null;

  constructor(private readonly options: ScriptRunnerOptions) {}

  observeHead(blockNumber: number): void {
    this.#headBlockNumber = Math.max(this.#headBlockNumber ?? 0, blockNumber);
  }

  /** Establishes continuity once for all who wait for it. */
  restore(): Promise<unknown> {
    this.#restoring ??= restoreContinuity(this.options.redis, {
      headBlockNumber: this.#headBlockNumber,
      retentionMs: this.options.retentionMs,
    }).finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  /**
   * Runs one script and answers its reply without the leading clock.
   * @throws LedgerUnavailableError when Redis does not answer in time or does not write.
   */
  run(name: ScriptName, keys: string[], args: (string | number | Buffer)[]): Promise<string[]> {
    return this.within(this.#run(name, keys, args));
  }

  /** Bounds the wait for Redis and gives every failure one name: no answer is never a verdict. */
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

  async #run(name: ScriptName, keys: string[], args: (string | number | Buffer)[]): Promise<string[]> {
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
      // The server restarted, failed over or was replaced since the scripts were loaded.
      await this.restore();
    }
  }
}
