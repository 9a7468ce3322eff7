import type { Cluster, Redis } from 'ioredis';

import { assertFit, listServers } from './assert-fit.js';
import type { LaneId } from './job.js';
import { JournalError, JournalUnavailableError } from './journal-error.js';
import { JOURNAL_SCRIPTS, type TransitionName } from './journal-scripts.js';
import { laneKey, lanesKey } from './keys.js';
import { readLaneName } from './lane-id.js';
import { encodeCalls, TransitionQueue, type TransitionCall } from './transition-queue.js';

export interface ScriptRunnerOptions {
  redis: Redis | Cluster;
  fleet: string;
  timeoutMs: number;
  retentionMs: number;
  jobsKept: number;
  eventsKept: number;
}

export type ScriptArgument = string | number;

const MOST_ATTEMPTS = 3;

/** Runs the journal's scripts on a Redis that was checked. It never falls back to EVAL. */
export class ScriptRunner {
  readonly #queue = new TransitionQueue((lane, calls) => this.within(this.#runProgram(lane, calls)));
  #restoring: Promise<void> | null = null;

  constructor(private readonly options: ScriptRunnerOptions) {}

  /**
   * Makes one transition of a lane, or of one of its jobs, and returns its reply without the leading clock. Transitions
   * requested together go to Redis together.
   * @throws JournalUnavailableError when Redis does not answer in time or does not write.
   */
  async run(name: TransitionName, lane: string, job: string | null, args: ScriptArgument[] = []): Promise<string[]> {
    const [reply] = await this.runChain(lane, [{ name, job, args }]);
    return reply ?? [];
  }

  /**
   * Makes several transitions in order, in one script, up to the first that is refused; those after it are `skipped`.
   */
  async runChain(lane: string, calls: readonly TransitionCall[]): Promise<string[][]> {
    const done: string[][] = [];
    for (let attempt = 1; ; attempt++) {
      const replies = await this.#queue.run(lane, calls.slice(done.length));
      const stop = replies.findIndex(([outcome]) => outcome === 'discontinued');
      if (stop < 0) return [...done, ...replies];
      done.push(...replies.slice(0, stop));
      if (attempt === MOST_ATTEMPTS)
        throw new JournalUnavailableError("The journal's Redis keeps restarting or failing over.");
      await this.within(this.restore());
    }
  }

  /** Claims an idempotency key, which belongs to no lane. */
  claimKey(key: string, args: ScriptArgument[]): Promise<string[]> {
    return this.within(this.#evaluate('claimKey', [key], args).then((reply) => (reply as string[]).slice(1)));
  }

  /**
   * Checks the servers, loads the scripts, and compares every lane with its server: a lane whose server has restarted
   * is frozen. Concurrent callers share one run.
   */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = null;
    });
    return this.#restoring;
  }

  /** Compares one lane with the run of its server, and writes the settings that its scripts use. */
  async guard(lane: LaneId): Promise<void> {
    const durable = await this.#areDurable();
    await this.#guard(lane, durable);
  }

  /** Limits the wait for Redis and maps every failure to one error: a missing answer decides nothing. */
  async within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const { timeoutMs } = this.options;
      timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      return await Promise.race([work, timeout]);
    } catch (error) {
      // An invalid argument or an unfit Redis: retrying helps in neither case.
      if (error instanceof JournalError || error instanceof TypeError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new JournalUnavailableError(`The journal's Redis is unavailable: ${reason}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #runProgram(lane: string, calls: readonly (readonly TransitionCall[])[]): Promise<string[][]> {
    const { keys, args } = encodeCalls(lane, calls);
    const replies = (await this.#evaluate('laneProgram', keys, args)) as string[][];
    return replies.map(([, ...reply]) => reply);
  }

  async #evaluate(name: keyof typeof JOURNAL_SCRIPTS, keys: string[], args: ScriptArgument[]): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.options.redis.evalsha(JOURNAL_SCRIPTS[name].sha, keys.length, ...keys, ...args);
      } catch (error) {
        const isUnknown = error instanceof Error && error.message.startsWith('NOSCRIPT');
        if (!isUnknown || attempt === MOST_ATTEMPTS) throw error;
      }
      // The server restarted, failed over or was replaced since the scripts were loaded.
      await this.restore();
    }
  }

  async #restore(): Promise<void> {
    const { redis, fleet } = this.options;
    const durable = await this.#areDurable();
    await Promise.all(
      listServers(redis).flatMap((server) =>
        Object.values(JOURNAL_SCRIPTS).map(({ lua }) => server.script('LOAD', lua)),
      ),
    );
    const lanes = (await redis.smembers(lanesKey(fleet))).flatMap((name) => readLaneName(name) ?? []);
    await Promise.all(lanes.map((lane) => this.#guard(lane, durable)));
  }

  async #areDurable(): Promise<boolean> {
    return (await Promise.all(listServers(this.options.redis).map(assertFit))).every(Boolean);
  }

  async #guard(lane: LaneId, durable: boolean): Promise<void> {
    const { redis, retentionMs, jobsKept, eventsKept } = this.options;
    const call = { name: 'guardLane', job: null, args: [durable ? 1 : 0, retentionMs, jobsKept, eventsKept] } as const;
    const { keys, args } = encodeCalls(laneKey(lane), [[call]]);
    await redis.evalsha(JOURNAL_SCRIPTS.laneProgram.sha, keys.length, ...keys, ...args);
  }
}
