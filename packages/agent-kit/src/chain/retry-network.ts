import { explainFailure } from './explain-failure.js';

/** The specification's delay before a second attempt after `NETWORK_ERROR` (section "Limits"). */
export const NETWORK_RETRY_DELAY_MS = 5_000;

/**
 * Runs work that sends nothing; after a network error once more, `delayMs` later.
 * @throws AgentKitError, for any error of the work.
 */
export async function retryNetwork<T>(work: () => Promise<T>, delayMs: number): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = explainFailure(error);
    if (failure.code !== 'NETWORK_ERROR') throw failure;
  }
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return work().catch((error: unknown) => {
    throw explainFailure(error);
  });
}
