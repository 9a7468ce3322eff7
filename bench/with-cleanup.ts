export type KeepUntilEnd = <T extends { stop: () => Promise<unknown> }>(started: T) => T;

/** Runs the work and then stops what it started, last first, however the work ends. */
export async function withCleanup<T>(work: (keep: KeepUntilEnd) => Promise<T>): Promise<T> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    return await work((started) => {
      stops.unshift(() => started.stop());
      return started;
    });
  } finally {
    for (const stop of stops) await stop().catch(() => undefined);
  }
}
