/** How many ended jobs are remembered. */
const MOST_ENDED = 1_000;

interface LockedJob {
  /** The locks that it needs, as one text: jobs with the same one wait for the same holder. */
  name: string;
  scopes: readonly string[];
  /** The job that holds one of them, or is expected to; null: they may all be free. */
  holder: string | null;
  /** It is planned again now. */
  isTrying: boolean;
}

/**
 * The jobs that wait for what another job has locked, in the order in which they were refused. Planning a job that is
 * refused again is wasted, so a job is planned when its holder has ended, and only one of those that want the same
 * lock. What a process remembers decides nothing: the journal gives out the locks.
 */
export class LockedJobs {
  readonly #jobs = new Map<string, LockedJob>();
  /** The journal's refusal may be read only after the end of the holder that it names. */
  readonly #ended = new Set<string>();

  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** The job that holds what this one waits for, as far as it is known. */
  holderOf(jobId: string): string | null {
    return this.#jobs.get(jobId)?.holder ?? null;
  }

  /** The journal refused the job these locks. */
  note(jobId: string, locks: readonly string[], by: string): void {
    const holder = this.#ended.has(by) ? null : by;
    const scopes = locks.toSorted();
    const name = scopes.join(' ');
    this.#jobs.set(jobId, { name, scopes, holder, isTrying: false });
    for (const job of this.#jobs.values()) if (job.name === name && !job.isTrying) job.holder ??= holder;
  }

  /** The turn of a job has ended. If it was refused, that was noted. */
  leave(jobId: string, outcome: string): void {
    const job = this.#jobs.get(jobId);
    if (!job || outcome === 'locked') return;
    this.#jobs.delete(jobId);
    const holdsThem = (outcome === 'in_flight' || outcome === 'lane_full') && !this.#ended.has(jobId);
    if (!holdsThem) return;
    for (const other of this.#jobs.values()) {
      if (other.scopes.some((scope) => job.scopes.includes(scope))) other.holder ??= jobId;
    }
  }

  /** The job has ended, and what it held is free. */
  release(jobId: string): void {
    const [oldest = ''] = this.#ended.add(jobId);
    if (this.#ended.size > MOST_ENDED) this.#ended.delete(oldest);
    for (const job of this.#jobs.values()) if (job.holder === jobId) job.holder = null;
  }

  /** Any holder may have ended without this process seeing it. */
  releaseAll(): void {
    for (const job of this.#jobs.values()) job.holder = null;
  }

  /** The jobs to plan now: none of them wants what another one that is planned wants. */
  takeFree(): string[] {
    const wanted = new Set([...this.#jobs.values()].flatMap(({ isTrying, scopes }) => (isTrying ? scopes : [])));
    const free: string[] = [];
    for (const [jobId, job] of this.#jobs) {
      if (job.isTrying || job.holder !== null || job.scopes.some((scope) => wanted.has(scope))) continue;
      job.isTrying = true;
      for (const scope of job.scopes) wanted.add(scope);
      free.push(jobId);
    }
    return free;
  }
}
