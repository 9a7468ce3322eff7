import { pause, type Wakeable } from '../pause.js';

export interface ConsumeOptions {
  /**
   * Hands the next events on, and then moves the consumer's position behind them: what fails or is killed in between is
   * handed on again. Returns whether there may be more by now.
   */
  readonly pass: () => Promise<boolean>;
  /** Woken when there is something new. */
  readonly wakeable: Wakeable;
  /** A wake-up may be lost: without one, the outbox is read at this interval. */
  readonly lookEveryMs: number;
  /** Called once per run of identical failures; the pass is repeated. What it throws ends the consumer. */
  readonly onTrouble: (error: Error) => void;
  readonly signal: AbortSignal;
}

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 30_000];

/** Follows an outbox for one consumer until the signal is aborted. */
export async function consumeOutbox({ pass, wakeable, lookEveryMs, onTrouble, signal }: ConsumeOptions): Promise<void> {
  let failures = 0;
  let reported = '';
  while (!signal.aborted) {
    try {
      const hasMore = await pass();
      [failures, reported] = [0, ''];
      if (!hasMore) await wakeable.sleep(lookEveryMs, signal);
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      if (error.message !== reported) onTrouble(error);
      reported = error.message;
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS), signal);
    }
  }
}
