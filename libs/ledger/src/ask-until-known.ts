import { setTimeout as sleep } from 'node:timers/promises';

import { StoreUnavailableError } from '@tollgate/redis';

const PAUSE_MS = 250;

/**
 * Repeats a question that changes nothing the second time, until Redis replies. The last one is asked after the time is
 * over, and so learns what became of those before it.
 */
export async function askUntilKnown<Reply>(ask: () => Promise<Reply>, patienceMs: number): Promise<Reply> {
  const endsAtMs = performance.now() + patienceMs;
  for (;;) {
    const isLast = performance.now() >= endsAtMs;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || isLast) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
