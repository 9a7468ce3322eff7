import type { Cluster, Redis } from 'ioredis';

import { assertFit, listServers } from './assert-fit.js';
import type { LaneId } from './job.js';
import { JournalError, JournalUnavailableError } from './journal-error.js';
import { JOURNAL_SCRIPTS, type ScriptName } from './journal-scripts.js';
import { laneKey, LANES_KEY } from './keys.js';
import { readLaneName } from './lane-id.js';

export interface ScriptRunnerOptions {
  redis: Redis | Cluster;
  timeoutMs: number;
  retentionMs: number;
  jobsKept: number;
  eventsKept: number;
}

export type ScriptArgument = string | number;

/** Runs the journal's scripts on a Redis that was looked at; nothing here ever falls back to EVAL. */
export class ScriptRunner {
  #restoring: Promise<void> | null = null;

  constructor(private readonly options: ScriptRunnerOptions) {}

  /**
   * Runs one script and answers its reply without the leading clock.
   * @throws JournalUnavailableError when Redis does not answer in time or does not write.
   */
  run(name: ScriptName, keys: string[], args: ScriptArgument[] = []): Promise<string[]> {
    return this.within(this.#run(name, keys, args));
  }

  /**
   * Looks at the servers, loads the scripts, and lets every lane see whether its server lost something: a lane whose
   * server has restarted is frozen. Once for all who wait for it.
   */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  /** Compares one lane with the run of its server, and writes the settings that its scripts go by. */
  async guard(lane: LaneId): Promise<void> {
    const durable = await this.#areDurable();
    await this.#guard(lane, durable);
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
      // What was asked is wrong, or Redis is unfit: neither gets better by asking again.
      if (error instanceof JournalError || error instanceof TypeError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new JournalUnavailableError(`The journal's Redis is unavailable: ${reason}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(name: ScriptName, keys: string[], args: ScriptArgument[]): Promise<string[]> {
    const { sha } = JOURNAL_SCRIPTS[name];
    for (let attempt = 1; ; attempt++) {
      try {
        const [, ...reply] = (await this.options.redis.evalsha(sha, keys.length, ...keys, ...args)) as string[];
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

  async #restore(): Promise<void> {
    const { redis } = this.options;
    const durable = await this.#areDurable();
    await Promise.all(
      listServers(redis).flatMap((server) =>
        Object.values(JOURNAL_SCRIPTS).map(({ lua }) => server.script('LOAD', lua)),
      ),
    );
    const lanes = (await redis.smembers(LANES_KEY)).flatMap((name) => readLaneName(name) ?? []);
    await Promise.all(lanes.map((lane) => this.#guard(lane, durable)));
  }

  async #areDurable(): Promise<boolean> {
    return (await Promise.all(listServers(this.options.redis).map(assertFit))).every(Boolean);
  }

  async #guard(lane: LaneId, durable: boolean): Promise<void> {
    const { redis, retentionMs, jobsKept, eventsKept } = this.options;
    const { sha } = JOURNAL_SCRIPTS.guardLane;
    await redis.evalsha(sha, 1, laneKey(lane), durable ? 1 : 0, retentionMs, jobsKept, eventsKept);
  }
}
