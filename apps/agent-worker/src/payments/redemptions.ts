import type { Redemption } from './redeem-payment.js';

interface Entry {
  result: Redemption | null;
  endedAtMs: number;
  abort: AbortController;
  settled: Promise<void>;
}

/** What nobody came back for: the job's lane went to another process. */
const FORGET_AFTER_MS = 10 * 60_000;

/** What is being redeemed in the background, by job. Losing it costs a repeated question and nothing else. */
export class Redemptions {
  readonly #entries = new Map<string, Entry>();
  #isStopped = false;

  /** What redeeming a job's payment came to; null while it runs. Begins it where nobody has. */
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
      // Broken off: whoever looks next begins anew.
      () => void this.#entries.delete(jobId),
    );
    return null;
  }

  /** The result was taken: the next look begins anew. */
  forget(jobId: string): void {
    this.#entries.delete(jobId);
  }

  /** Breaks off everything and begins nothing more. */
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
