import type { AdvanceOutcome } from './advance-job.js';

/**
 * Which jobs of a lane wait for their turn in this process. Those that have a nonce go first: everything later waits
 * behind them in the pool, and a newcomer that finds the lane full must not stand in their way.
 */
export class JobLine {
  readonly #first = new Set<string>();
  /** Newcomers that found the lane full, before those that have not tried. */
  readonly #turnedAway = new Set<string>();
  readonly #newcomers = new Set<string>();
  /** True for a newcomer: it may take a nonce. */
  readonly #active = new Map<string, boolean>();
  readonly #again = new Set<string>();
  readonly #locked = new Set<string>();

  /** How many jobs may be taking a nonce just now. */
  get newcomers(): number {
    return [...this.#active.values()].filter(Boolean).length;
  }

  isActive(jobId: string): boolean {
    return this.#active.has(jobId);
  }

  /** A job that may or may not have a nonce; one that is being carried on is looked at once more after. */
  join(jobId: string): void {
    if (this.#active.has(jobId)) this.#again.add(jobId);
    else if (!this.#first.has(jobId) && !this.#turnedAway.has(jobId)) this.#newcomers.add(jobId);
  }

  /** A job that has a nonce, or had one a moment ago. */
  joinFirst(jobId: string): void {
    if (this.#active.has(jobId)) this.#again.add(jobId);
    else {
      this.#forget(jobId);
      this.#first.add(jobId);
    }
  }

  /** Whoever waited for another job's allowance may have it now. */
  joinLocked(): void {
    for (const jobId of this.#locked) this.join(jobId);
    this.#locked.clear();
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

  /** A job that nobody waits for any more gets its turn at once, as a newcomer. */
  begin(jobId: string): void {
    this.#forget(jobId);
    this.#active.set(jobId, true);
  }

  /** Says how a turn ended; true for a newcomer's. */
  leave(jobId: string, outcome: AdvanceOutcome | 'failed'): boolean {
    const wasNewcomer = this.#active.get(jobId) ?? false;
    this.#active.delete(jobId);
    const isWoken = this.#again.delete(jobId);
    if (outcome === 'locked') this.#locked.add(jobId);
    if (outcome === 'lane_full') this.#turnedAway.add(jobId);
    else if (isWoken) this.join(jobId);
    return wasNewcomer;
  }

  clear(): void {
    for (const part of [this.#first, this.#turnedAway, this.#newcomers, this.#active, this.#again, this.#locked]) {
      part.clear();
    }
  }

  #forget(jobId: string): void {
    for (const part of [this.#first, this.#turnedAway, this.#newcomers]) part.delete(jobId);
  }
}
