import { setTimeout as sleep } from 'node:timers/promises';

const GIVE_UP_MS = 60_000;
/**
 * Below a test's own time limit, so that the error has this name: a busy machine needs half a minute to start a
 * process.
 */
const WAIT_MS = 90_000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

/**
 * Repeats the same request until it succeeds, as a payer would; every earlier status must be one that asks for a
 * repeat.
 */
export async function retryUntilPaid(
  send: () => Promise<Response>,
  mayCome: readonly (number | 'no answer')[] = [409, 502, 503, 504, 'no answer'],
  paid = 200,
): Promise<{ body: string; isReplay: boolean; before: (number | 'no answer')[] }> {
  const before: (number | 'no answer')[] = [];
  const giveUpMs = Date.now() + GIVE_UP_MS;
  for (;;) {
    const response = await send().catch(() => null);
    const body = await response?.text().catch(() => null);
    const status = response === null || body == null ? 'no answer' : response.status;
    if (response !== null && status === paid) {
      return { body: body ?? '', isReplay: response.headers.has('Idempotent-Replayed'), before };
    }
    before.push(status);
    const code = response?.headers.get('X-Payment-Failure') ?? 'no failure code';
    if (!mayCome.includes(status)) throw new Error(`a payer was answered ${status}, ${code}: ${body ?? ''}`);
    if (Date.now() > giveUpMs) throw new Error(`a payer was never answered, but ${before.join(', ')}`);
    await sleep(50);
  }
}

/** Waits until a condition holds; throws an error with its name if it does not in time. */
export async function waitFor(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpMs = Date.now() + WAIT_MS;
  for (;;) {
    const lookedAtMs = performance.now();
    if (await holds()) return;
    if (Date.now() > giveUpMs) throw new Error(`timed out waiting for: ${what}`);
    // Looks that take long would keep a core from what is waited for.
    const tookMs = performance.now() - lookedAtMs;
    await sleep(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, 4 * tookMs)));
  }
}
