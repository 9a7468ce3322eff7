export type KeepUntilEnd = <T extends { stop: () => Promise<unknown> }>(started: T) => T;

/** Runs the work and then stops the parts that it started, last first, whether or not it succeeds. */
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
