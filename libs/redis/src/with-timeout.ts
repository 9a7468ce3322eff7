/** Settles as `work` does, or rejects after the time: Redis may be connected and yet not answer. */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, from = ''): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer${from} within ${timeoutMs} ms`)), timeoutMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/**
 * Resolves when everything is closed, or after `withinMs`. BullMQ and the connections would wait endlessly, for instance
 * for a Redis that hangs; whatever is still open then ends with the process. Errors of closing are ignored, since
 * nothing can be done about them.
 */
export async function closeWithin(withinMs: number, ...parts: { close(): Promise<unknown> }[]): Promise<void> {
  await withTimeout(Promise.allSettled(parts.map((part) => part.close())), withinMs).catch(() => undefined);
}
