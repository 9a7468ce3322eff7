interface PutOff {
  delayMs: number;
  untilMs: number;
  /** `takeDue` has returned it since it came due. */
  isTaken: boolean;
}

/**
 * When the planner is asked again about jobs it failed at without a verdict. The delay doubles each time, so that one
 * failing job does not keep the lane busy. Kept in memory only; losing it costs one extra call.
 */
export class PlanRetries {
  readonly #jobs = new Map<string, PutOff>();

  constructor(private readonly options: { firstMs: number; longestMs: number }) {}

  putOff(jobId: string): void {
    const { firstMs, longestMs } = this.options;
    const delayMs = Math.min(longestMs, (this.#jobs.get(jobId)?.delayMs ?? firstMs / 2) * 2);
    this.#jobs.set(jobId, { delayMs, untilMs: performance.now() + delayMs, isTaken: false });
  }

  isPutOff(jobId: string): boolean {
    return performance.now() < (this.#jobs.get(jobId)?.untilMs ?? -Infinity);
  }

  /** The planner has answered, or the job has ended. */
  forget(jobId: string): void {
    this.#jobs.delete(jobId);
  }

  /** The jobs that are due, each returned once. */
  takeDue(): string[] {
    const due: string[] = [];
    for (const [jobId, job] of this.#jobs) {
      if (job.isTaken || performance.now() < job.untilMs) continue;
      job.isTaken = true;
      due.push(jobId);
    }
    return due;
  }
}
