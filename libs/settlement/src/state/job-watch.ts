import type { EmittedLog } from '@tollgate/chain';
import { isFinal, type JobRecord, type Journal, type StepReceipt } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import { Deferred } from './deferred.js';

/** A relayer's transaction with enough confirmations. */
export interface MinedJob {
  outcome: 'mined';
  txHash: Hex;
  logs: readonly EmittedLog[];
  gasUsed: bigint;
}

/**
 * `over`: no transaction of the job can be mined any more. `txHash` is the one that was, by its attempts if not by its
 * logs; `isReverted` says that it failed as a whole. `unknown`: the journal has no such job, because it was forgotten
 * or the process that meant to submit it died. `unwatched`: the watch is closed, which says nothing about the job.
 */
export type EndedJob =
  | { outcome: 'over'; txHash: Hex | null; isReverted: boolean }
  | { outcome: 'unknown' }
  | { outcome: 'unwatched' };

const FIRST_LOOK_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const UNWATCHED: EndedJob = { outcome: 'unwatched' };
/** The time that a process has to submit a job it has named: the journal does not accept it later. */
export const SUBMITTED_WITHIN_MS = 9_000;
/** After this time an unsubmitted job never will exist; the extra second allows for clock differences. */
export const UNKNOWN_AFTER_MS = SUBMITTED_WITHIN_MS + 1_000;

/**
 * Waits for jobs. A job of this process's lanes resolves as soon as it is mined; every other change, and all jobs of
 * other processes, are read from the journal.
 */
export class JobWatch {
  readonly #watched = new Map<string, WatchedJob>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(
    private readonly journal: Pick<Journal, 'readJobs'>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** The number of jobs being waited for. */
  get size(): number {
    return this.#watched.size;
  }

  /** Resolves when the job is over, or as soon as this process learns that it is mined. */
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

  /** Closes for good: present and later waits resolve as `unwatched`. */
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

  /** Whether the job is due for a look. The interval grows, because reading many jobs is expensive. */
  takeTurn(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    this.#nextLookMs = nowMs + this.#delayMs;
    this.#delayMs = Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    return true;
  }
}
