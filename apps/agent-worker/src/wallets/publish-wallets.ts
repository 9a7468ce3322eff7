import type { WalletDirectory } from '@tollgate/agent-jobs';
import { ConfigurationError } from '@tollgate/common';
import { nameLane } from '@tollgate/journal';

import type { WorkerWallet } from './worker-wallet.js';

/**
 * Publishes the accounts behind the wallet names for gateways and commands.
 * @throws ConfigurationError when a name refers to another account, in whose lane jobs of that name may wait
 */
export async function publishWallets(directory: WalletDirectory, wallets: readonly WorkerWallet[]): Promise<void> {
  const problems: string[] = [];
  for (const { name, lane } of wallets) {
    const published = await directory.publish({ name, lane });
    if (nameLane(published.lane) === nameLane(lane)) continue;
    problems.push(
      `The wallet ${name} is ${lane.address} on chain ${lane.chainId} here, but the name refers to ` +
        `${published.lane.address} on chain ${published.lane.chainId}. Give the wallet another name, or, once the jobs ` +
        `of the old account have ended, run: npm run wallets -- remove ${name}`,
    );
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}
