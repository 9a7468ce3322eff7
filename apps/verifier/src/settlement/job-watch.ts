import type { Hex } from '@tollgate/protocol';
import { isFinal, type JobRecord, type Journal, type StepReceipt } from '@tollgate/transactions';

import type { EmittedLog } from '../chain/receipt.js';

/** A relayer's transaction that is mined deep enough. */
export interface MinedJob {
  outcome: 'mined';
  txHash: Hex;
  logs: readonly EmittedLog[];
  gasUsed: bigint;
}

/**
 * `over`: nothing of the job can be mined any more; `txHash` names what was, by its attempts if not by its logs, and
 * `isReverted` says that it failed as a whole. `unknown`: the journal has no such job. It was forgotten, or whoever meant to submit it has died.
 * `unwatched`: the watch is closed, which says nothing of the job.
 */
export type EndedJob =
  { outcome: 'over'; txHash: Hex | null; isReverted: boolean } | { outcome: 'unknown' } | { outcome: 'unwatched' };

const FIRST_LOOK_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const UNWATCHED: EndedJob = { outcome: 'unwatched' };
/** How long whoever has named a job may take to submit it: the journal accepts it no later. */
export const SUBMITTED_WITHIN_MS = 9_000;
/** Then there is no such job and never will be; by how much more clocks may differ here. */
export const UNKNOWN_AFTER_MS = SUBMITTED_WITHIN_MS + 1_000;

/**
 * Waits for jobs. Those of this process's lanes are told at once when they are mined; whatever else becomes of them, and
 * all that other processes carry out, is read from the journal.
 */
export class JobWatch {
  readonly #watched = new Map<string, WatchedJob>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(
    private readonly journal: Pick<Journal, 'readJobs'>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** Jobs that are waited for. */
  get size(): number {
    return this.#watched.size;
  }

  /** Resolves when the job is mined, where this process learns it, or over. */
  untilMined(jobId: string): Promise<MinedJob | EndedJob> {
    const { mined, ended } = this.#watch(jobId);
    return Promise.race([mined.promise, ended.promise]);
  }

  untilEnded(jobId: string): Promise<EndedJob> {
    const watched = this.#watch(jobId);
    watched.isEndAwaited = true;
    return watched.ended.promise;
  }

  noteMined(jobId: string, { transactionHash, logs, gasUsed }: StepReceipt): void {
    const watched = this.#watched.get(jobId);
    watched?.mined.resolve({ outcome: 'mined', txHash: transactionHash, logs, gasUsed });
    if (!watched?.isEndAwaited) this.#watched.delete(jobId);
  }

  /** For good: whoever waits, or comes later, is told that nobody watches any more. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { ended } of this.#watched.values()) ended.resolve(UNWATCHED);
    this.#watched.clear();
  }

  #watch(jobId: string): WatchedJob {
    let watched = this.#watched.get(jobId);
    if (!watched) {
      watched = new WatchedJob();
      if (this.#isClosed) {
        watched.ended.resolve(UNWATCHED);
        return watched;
      }
      this.#watched.set(jobId, watched);
      this.#planLook();
    }
    return watched;
  }

  #planLook(): void {
    this.#timer ??= setTimeout(() => void this.#look(), FIRST_LOOK_MS);
  }

  async #look(): Promise<void> {
    const due = [...this.#watched].filter(([, watched]) => watched.takeTurn());
    try {
      const jobs = await this.journal.readJobs(due.map(([jobId]) => jobId));
      for (const [index, [jobId, watched]] of due.entries()) this.#judge(jobId, watched, jobs[index] ?? null);
    } catch (error) {
      this.onTrouble(error);
    }
    if (this.#timer === null) return;
    this.#timer = null;
    if (this.#watched.size > 0) this.#planLook();
  }

  #judge(jobId: string, watched: WatchedJob, job: JobRecord | null): void {
    const isOver = job ? isFinal(job.state) : watched.ageMs > UNKNOWN_AFTER_MS;
    if (!isOver) return;
    this.#watched.delete(jobId);
    if (job === null) return watched.ended.resolve({ outcome: 'unknown' });
    const txHash = job.steps[0]?.mined?.hash ?? null;
    watched.ended.resolve({ outcome: 'over', txHash, isReverted: job.state === 'REVERTED' });
  }
}

class WatchedJob {
  readonly mined = new Deferred<MinedJob>();
  readonly ended = new Deferred<EndedJob>();
  isEndAwaited = false;
  readonly #sinceMs = performance.now();
  #delayMs = FIRST_LOOK_MS;
  #nextLookMs = this.#sinceMs;

  get ageMs(): number {
    return performance.now() - this.#sinceMs;
  }

  /** True when it is to be looked at now: ever more seldom, for reading many jobs costs something. */
  takeTurn(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    this.#nextLookMs = nowMs + this.#delayMs;
    this.#delayMs = Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    return true;
  }
}

class Deferred<T> {
  resolve!: (value: T) => void;
  readonly promise = new Promise<T>((resolve) => (this.resolve = resolve));
}
