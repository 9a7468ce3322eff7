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
