import type { AdvanceOutcome } from '../steps/advance-job.js';

/**
 * The jobs of a lane that wait for their turn in this process. Jobs with a nonce go first: all later nonces wait behind
 * theirs in the node's pool, and new jobs that find the lane full must not delay them.
 */
export class JobLine {
  readonly #first = new Set<string>();
  /** New jobs that found the lane full; they come before those that have not tried yet. */
  readonly #turnedAway = new Set<string>();
  readonly #newcomers = new Set<string>();
  /** True for a new job, which may take a nonce. */
  readonly #active = new Map<string, boolean>();
  readonly #again = new Set<string>();

  /** How many jobs may be taking a nonce right now. */
  get newcomers(): number {
    return [...this.#active.values()].filter(Boolean).length;
  }

  /** New jobs wait for their turn. */
  get hasQueue(): boolean {
    return this.#turnedAway.size + this.#newcomers.size > 0;
  }

  isActive(jobId: string): boolean {
    return this.#active.has(jobId);
  }

  /** Queues a job that may or may not have a nonce. A job that is being advanced gets one more turn afterwards. */
  join(jobId: string): void {
    if (this.#active.has(jobId)) this.#again.add(jobId);
    else if (!this.#first.has(jobId) && !this.#turnedAway.has(jobId)) this.#newcomers.add(jobId);
  }

  /** Queues a job that has a nonce, or had one a moment ago. */
  joinFirst(jobId: string): void {
    if (this.#active.has(jobId)) this.#again.add(jobId);
    else {
      this.#forget(jobId);
      this.#first.add(jobId);
    }
  }

  next({ hasRoom }: { hasRoom: boolean }): { jobId: string; isNewcomer: boolean } | null {
    const [first] = this.#first;
    const [turnedAway] = hasRoom ? this.#turnedAway : [];
    const [newcomer] = hasRoom ? this.#newcomers : [];
    const jobId = first ?? turnedAway ?? newcomer;
    if (jobId === undefined) return null;
    const isNewcomer = first === undefined;
    this.#forget(jobId);
    this.#active.set(jobId, isNewcomer);
    return { jobId, isNewcomer };
  }

  /** Gives a job that is not queued a turn at once, as a new job. */
  begin(jobId: string): void {
    this.#forget(jobId);
    this.#active.set(jobId, true);
  }

  /** Records how a turn ended; returns true for the turn of a new job. */
  leave(jobId: string, outcome: AdvanceOutcome | 'failed'): boolean {
    const wasNewcomer = this.#active.get(jobId) ?? false;
    this.#active.delete(jobId);
    const isWoken = this.#again.delete(jobId);
    if (outcome === 'lane_full') this.#turnedAway.add(jobId);
    else if (isWoken) this.join(jobId);
    return wasNewcomer;
  }

  clear(): void {
    for (const part of [this.#first, this.#turnedAway, this.#newcomers, this.#active, this.#again]) {
      part.clear();
    }
  }

  #forget(jobId: string): void {
    for (const part of [this.#first, this.#turnedAway, this.#newcomers]) part.delete(jobId);
  }
}
