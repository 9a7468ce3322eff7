import { mayUseWallet, ProblemError, type ApiKey } from '@tollgate/common';
import type { LaneId } from '@tollgate/journal';

import type { AgentConnections } from '../shared/agent-connections.js';

/**
 * The account behind a wallet's name.
 * @throws ProblemError if the caller may not use the wallet, or no worker has it
 */
export async function findWallet(connections: AgentConnections, caller: ApiKey, wallet: string): Promise<LaneId> {
  // Checked first, so that a caller cannot find out which wallets exist.
  if (!mayUseWallet(caller, wallet)) {
    throw new ProblemError({
      status: 403,
      code: 'wallet_not_allowed',
      detail: `This API key may not use the wallet "${wallet}", only ${caller.wallets.join(', ') || 'none'}.`,
    });
  }
  const entry = await connections.within(connections.wallets.find(wallet));
  if (entry) return entry.lane;
  throw new ProblemError({ status: 422, code: 'wallet_unknown', detail: `No worker has a wallet named "${wallet}".` });
}
