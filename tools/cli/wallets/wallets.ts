import { Journal, RELAYER_FLEET } from '@tollgate/journal';
import { StoreError } from '@tollgate/redis';

// The library's index would load Nest, which doubles the start.
import { WalletDirectory } from '../../../libs/agent-jobs/src/wallets/wallet-directory.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findRedisUrl, findRpcUrls } from '../shared/find-place.js';
import { withRedis } from '../shared/with-redis.js';
import { describeWallets, formatWallets } from './format-wallets.js';
import { readWalletStates } from './read-wallet-states.js';
import type { AccountParts } from './release-account.js';

export interface WalletQuery {
  redis?: string;
  rpc?: string;
}

export { releaseAccount } from './release-account.js';
export { adoptWallet, pauseWallet, removeWallet, resumeWallet, thawWallet } from './wallet-commands.js';

export async function listWallets(options: WalletQuery, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const wallets = await withAccounts(options, env, (parts) => readWalletStates(parts, parts.rpcUrls));
  return {
    json: describeWallets(wallets),
    text:
      wallets.length === 0
        ? 'No agent worker has published a wallet yet, and no verifier a relayer.'
        : formatWallets(wallets),
  };
}

/** Runs the work with the journals, the names of wallets and the chain. */
export function withAccounts<T>(
  options: WalletQuery,
  env: NodeJS.ProcessEnv,
  work: (parts: AccountParts) => Promise<T>,
): Promise<T> {
  return withRedis(findRedisUrl(options.redis, env), async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    // Not opened, because the verifiers set the options of the relayers' journal.
    const relayers = new Journal({ redis, fleet: RELAYER_FLEET });
    return work({
      journal,
      relayers,
      directory: new WalletDirectory(redis),
      rpcUrls: findRpcUrls(options.rpc, env),
    });
  }).catch((error: unknown) => {
    throw error instanceof StoreError ? new CommandError(`${error.message} ${error.hint}`) : error;
  });
}
