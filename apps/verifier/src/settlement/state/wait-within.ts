/**
 * Waits for a promise; null when the time ends first or the signal aborts. Written by hand because combined signals
 * (`AbortSignal.any`) cost more than the rest of a request.
 */
export function waitWithin<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const giveUp = (): void => {
      end();
      resolve(null);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    void promise.then(resolve, reject).finally(end);
  });
}
