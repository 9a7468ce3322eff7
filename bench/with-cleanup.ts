import { keepParts, type KeptParts } from '../tools/devnet/processes/keep-parts.js';

export type KeepUntilEnd = KeptParts['keep'];

/** Runs the work and then stops the parts that it started, last first, whether or not it succeeds. */
export async function withCleanup<T>(work: (keep: KeepUntilEnd) => Promise<T>): Promise<T> {
  const { keep, stop } = keepParts();
  const stopAll = (): Promise<void> => stop().catch(stopAll);
  try {
    return await work(keep);
  } finally {
    await stopAll();
  }
}
