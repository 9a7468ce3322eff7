import { withTimeout } from './with-timeout.js';

/**
 * Resolves when everything is closed, or after `withinMs`. BullMQ and the connections would wait endlessly, for instance
 * for a Redis that hangs; whatever is still open then ends with the process. Errors of closing are ignored, since
 * nothing can be done about them.
 */
export async function closeWithin(withinMs: number, ...parts: { close(): Promise<unknown> }[]): Promise<void> {
  await withTimeout(Promise.allSettled(parts.map((part) => part.close())), withinMs).catch(() => undefined);
}
