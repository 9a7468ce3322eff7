import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after the time, or at once when the signal is given. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal }).catch(() => undefined);
}
