import { setTimeout as sleep } from 'node:timers/promises';

import type { WalletDirectory } from '@tollgate/agent-jobs';
import { ConfigurationError } from '@tollgate/common';
import { JournalError, JournalUnavailableError, type Journal } from '@tollgate/transactions';
import type { Logger } from 'nestjs-pino';

import { publishWallets } from '../wallets/publish-wallets.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface JournalParts {
  journal: Journal;
  directory: WalletDirectory;
  wallets: readonly WorkerWallet[];
}

const RETRY_MS = 1000;

/**
 * Opens the journal and publishes the wallets; waits for a Redis that is away.
 * @throws ConfigurationError for a Redis that may forget jobs, and for a name that stands for another account
 */
export async function openJournal({ journal, directory, wallets }: JournalParts, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await journal.open();
      return await publishWallets(directory, wallets);
    } catch (error) {
      assertPasses(error);
      if (attempt === 1) logger.warn(`agent worker: waits for the journal's Redis: ${String(error)}`);
      await sleep(RETRY_MS);
    }
  }
}

/** What does not get better by waiting is thrown on; the rest is Redis being away. */
function assertPasses(error: unknown): void {
  if (error instanceof ConfigurationError || error instanceof TypeError) throw error;
  if (error instanceof JournalError && !(error instanceof JournalUnavailableError)) {
    throw new ConfigurationError([`REDIS_URL: ${error.message} ${error.hint}`]);
  }
}
