import type { Redemption } from './redeem-job-payment.js';

interface Entry {
  result: Redemption | null;
  endedAtMs: number;
  abort: AbortController;
  settled: Promise<void>;
}

/** How long a result is kept that no call has fetched, because the job's lane went to another process. */
const FORGET_AFTER_MS = 10 * 60_000;

/** The background redemptions, by job. Losing one costs a repeated request and nothing else. */
export class Redemptions {
  readonly #entries = new Map<string, Entry>();
  #isStopped = false;

  /** The outcome of redeeming a job's payment; null while it runs. Starts it if it is not running. */
  look(jobId: string, begin: (signal: AbortSignal) => Promise<Redemption>): Redemption | null {
    const known = this.#entries.get(jobId);
    if (known || this.#isStopped) return known?.result ?? null;
    this.#forgetOld();
    const abort = new AbortController();
    const entry: Entry = { result: null, endedAtMs: Infinity, abort, settled: Promise.resolve() };
    this.#entries.set(jobId, entry);
    entry.settled = begin(abort.signal).then(
      (result) => {
        entry.result = result;
        entry.endedAtMs = performance.now();
      },
      // Aborted: the next call starts it again.
      () => void this.#entries.delete(jobId),
    );
    return null;
  }

  /** Forgets a result that was used; the next call starts it again. */
  forget(jobId: string): void {
    this.#entries.delete(jobId);
  }

  /** Aborts all redemptions and starts no new ones. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const entries = [...this.#entries.values()];
    for (const { abort } of entries) abort.abort(new Error('The worker is stopping.'));
    await Promise.all(entries.map(({ settled }) => settled));
  }

  #forgetOld(): void {
    for (const [jobId, { endedAtMs }] of this.#entries) {
      if (performance.now() - endedAtMs > FORGET_AFTER_MS) this.#entries.delete(jobId);
    }
  }
}
