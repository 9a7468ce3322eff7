import { setTimeout as sleep } from 'node:timers/promises';

import { StoreUnavailableError } from '@tollgate/redis';

const PAUSE_MS = 250;

/** Repeats a question that changes nothing the second time, until Redis replies or the time is over. */
export async function askUntilKnown<Reply>(ask: () => Promise<Reply>, patienceMs: number): Promise<Reply> {
  const endsAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() + PAUSE_MS > endsAtMs) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
