import { ConfigurationError } from '@tollgate/common';
import type { Journal, LaneId } from '@tollgate/journal';

/**
 * Rejects relayers that are also wallets of agent jobs: each nonce of such an account would be used twice.
 * @throws ConfigurationError for such relayers, JournalUnavailableError
 */
export async function assertOwnAccounts(journal: Journal, lanes: readonly LaneId[]): Promise<void> {
  const foreign = await journal.findForeign(lanes);
  if (foreign.length === 0) return;
  throw new ConfigurationError(
    foreign.map(
      ({ address }) =>
        `RELAYER_PRIVATE_KEYS: ${address} is a wallet of agent jobs. Use an account that serves no other purpose.`,
    ),
  );
}
