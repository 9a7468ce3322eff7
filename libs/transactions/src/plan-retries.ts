interface PutOff {
  delayMs: number;
  untilMs: number;
  /** Handed out by `takeDue` since it came due. */
  isTaken: boolean;
}

/**
 * When the planner is asked again about the jobs that it failed at without a verdict: each time after twice as long, so
 * that one sick job does not keep the lane busy. Only remembered; losing it costs a question.
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

  /** The jobs whose time has come, each once. */
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
