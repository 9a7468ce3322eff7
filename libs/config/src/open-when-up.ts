import { setTimeout as sleep } from 'node:timers/promises';

import { StoreError, StoreUnavailableError } from '@tollgate/redis';

import { ConfigurationError } from './configuration-error.js';

const RETRY_MS = 1_000;

/**
 * Waits for a Redis that is down, and logs that once.
 * @param waits the beginning of that line, such as `verifier: waits for the ledger's Redis`
 * @throws ConfigurationError for one that may lose what is stored, or refuses this user
 */
export async function openWhenUp(
  waits: string,
  open: () => Promise<void>,
  logger: { warn(line: string): void },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (!(error instanceof StoreUnavailableError)) {
        throw new ConfigurationError([`REDIS_URL: ${error.message} ${error.hint}`]);
      }
      if (attempt === 1) logger.warn(`${waits}: ${error.message}`);
      await sleep(RETRY_MS);
    }
  }
}
