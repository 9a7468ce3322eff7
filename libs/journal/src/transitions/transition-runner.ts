import {
  type AcknowledgedCommands,
  checkServers,
  loadScripts,
  type ScriptArgument,
  ScriptRunner,
  StoreError,
  StoreUnavailableError,
} from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { LaneId } from '../jobs/job.js';
import { laneKey, lanesKey, readLaneName } from '../jobs/keys.js';
import { JOURNAL_SCRIPTS, type TransitionName } from './journal-scripts.js';

export interface TransitionRunnerOptions {
  redis: Redis | Cluster;
  fleet: string;
  timeoutMs: number;
  acknowledged?: AcknowledgedCommands | undefined;
  retentionMs: number;
  jobsKept: number;
  eventsKept: number;
}

const MOST_ATTEMPTS = 3;

/** Makes the journal's transitions on a Redis that was checked. */
export class TransitionRunner {
  readonly #runner: ScriptRunner;
  readonly #queue = new TransitionQueue((lane, chains) => this.#runProgram(lane, chains));

  constructor(private readonly options: TransitionRunnerOptions) {
    this.#runner = new ScriptRunner({
      redis: options.redis,
      timeoutMs: options.timeoutMs,
      acknowledged: options.acknowledged,
      restore: () => this.#restore(),
      toError: (reason, cause) =>
        // An invalid argument or an unfit Redis: retrying helps in neither case.
        cause instanceof StoreError || cause instanceof TypeError
          ? cause
          : new StoreUnavailableError('journal', `The journal's Redis is unavailable: ${reason}`, { cause }),
    });
  }

  /**
   * Makes one transition of a lane, or of one of its jobs, and returns its reply without the leading clock. Transitions
   * requested together go to Redis together.
   * @throws StoreUnavailableError when Redis does not answer in time or does not write.
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
        throw new StoreUnavailableError('journal', "The journal's Redis keeps restarting or failing over.");
      await this.restore();
    }
  }

  /** Claims an idempotency key, which belongs to no lane. */
  claimKey(key: string, args: ScriptArgument[]): Promise<string[]> {
    return this.#runner.run(JOURNAL_SCRIPTS.claimKey, [key], args);
  }

  /** Whether a lane counts its nonces, which only an adoption begins. */
  async isAdopted(lane: string): Promise<boolean> {
    return (await this.within(this.options.redis.hexists(lane, 'nextNonce'))) === 1;
  }

  /**
   * Checks the servers, loads the scripts, and compares every lane with its server: a lane whose server has restarted
   * is frozen. Concurrent callers share one run.
   */
  async restore(): Promise<void> {
    await this.within(this.#runner.restore());
  }

  /** Compares one lane with the run of its server, and writes the settings that its scripts use. */
  async guard(lane: LaneId): Promise<void> {
    await this.#guard(lane, await this.#checkServers());
  }

  within<T>(work: Promise<T>): Promise<T> {
    return this.#runner.within(work);
  }

  #runProgram(lane: string, chains: readonly (readonly TransitionCall[])[]): Promise<string[][]> {
    const read = (replies: unknown): string[][] => (replies as string[][]).map(([, ...reply]) => reply);
    return this.#runner.evaluate(JOURNAL_SCRIPTS.laneProgram, { ...encodeCalls(lane, chains), read });
  }

  async #restore(): Promise<void> {
    const { redis, fleet } = this.options;
    const durable = await this.#checkServers();
    await loadScripts(redis, Object.values(JOURNAL_SCRIPTS));
    const lanes = (await redis.smembers(lanesKey(fleet))).flatMap((name) => readLaneName(name) ?? []);
    await Promise.all(lanes.map((lane) => this.#guard(lane, durable)));
  }

  #checkServers(): Promise<boolean> {
    return checkServers(this.options.redis, {
      store: 'journal',
      eviction: 'A job it forgets could be sent again.',
      isAcknowledged: this.options.acknowledged !== undefined,
    });
  }

  async #guard(lane: LaneId, durable: boolean): Promise<void> {
    const { redis, retentionMs, jobsKept, eventsKept, acknowledged } = this.options;
    const own = [durable ? 1 : 0, retentionMs, jobsKept, eventsKept, acknowledged ? 1 : 0];
    const call = { name: 'guardLane', job: null, args: own } as const;
    const { keys, args } = encodeCalls(laneKey(lane), [[call]]);
    await redis.evalsha(JOURNAL_SCRIPTS.laneProgram.sha, keys.length, ...keys, ...args);
  }
}

export interface TransitionCall {
  name: TransitionName;
  /** The job's key; null for a transition of the lane itself. */
  job: string | null;
  args: readonly ScriptArgument[];
}

interface Waiting {
  calls: readonly TransitionCall[];
  resolve: (replies: string[][]) => void;
  reject: (error: unknown) => void;
}

type RunBatch = (lane: string, chains: readonly (readonly TransitionCall[])[]) => Promise<string[][]>;

/** The most transitions sent at once. Redis does nothing else meanwhile, for some milliseconds. */
const MOST_CHAINS = 32;

/**
 * Sends the transitions of a lane that are requested in one turn of the event loop together. A failure on the way fails
 * all of them; each may or may not have been made, and may be repeated.
 */
class TransitionQueue {
  readonly #waiting = new Map<string, Waiting[]>();
  #isFlushPlanned = false;

  constructor(private readonly runBatch: RunBatch) {}

  /** Returns one reply per call. */
  run(lane: string, calls: readonly TransitionCall[]): Promise<string[][]> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(lane) ?? [];
      waiting.push({ calls, resolve, reject });
      this.#waiting.set(lane, waiting);
      // Sends early once this many wait, so that Redis works while this process signs the next ones.
      if (waiting.length >= MOST_CHAINS) this.#flush(lane);
      else this.#planFlush();
    });
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      for (const lane of this.#waiting.keys()) this.#flush(lane);
    });
  }

  #flush(lane: string): void {
    const batch = this.#waiting.get(lane) ?? [];
    this.#waiting.delete(lane);
    if (batch.length > 0) void this.#send(lane, batch);
  }

  async #send(lane: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const chains = batch.map(({ calls }) => calls);
      const replies = await this.runBatch(lane, chains);
      let from = 0;
      for (const { calls, resolve } of batch) resolve(replies.slice(from, (from += calls.length)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** The keys and arguments of one run of the lane's script. */
function encodeCalls(
  lane: string,
  chains: readonly (readonly TransitionCall[])[],
): { keys: string[]; args: ScriptArgument[] } {
  const keys = [lane];
  const places = new Map<string, number>();
  const args: ScriptArgument[] = [];
  for (const chain of chains) {
    for (const [index, { name, job, args: own }] of chain.entries()) {
      if (job !== null && !places.has(job)) places.set(job, keys.push(job) - 1);
      args.push(name, index === 0 ? '' : '+', job === null ? 0 : (places.get(job) ?? 0), own.length, ...own);
    }
  }
  return { keys, args };
}
