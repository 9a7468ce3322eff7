import { WalletDirectory } from '@tollgate/agent-jobs';
import { Journal, JournalError, RELAYER_FLEET } from '@tollgate/transactions';

import { CommandError, type Answer, type Environment } from '../shared/cli-command.js';
import { findRedisUrl, findRpcUrls } from '../shared/find-place.js';
import { withRedis } from '../shared/with-redis.js';
import type { WalletOptions } from './command.js';
import { describeWallets, formatWallets } from './format-wallets.js';
import { readWalletStates } from './read-wallet-states.js';
import { releaseAccount, type AccountParts } from './release-account.js';
import { adoptWallet, pauseWallet, removeWallet, resumeWallet, thawWallet } from './wallet-commands.js';

export async function list(options: WalletOptions, env: Environment): Promise<Answer> {
  const wallets = await withParts(options, env, (parts) => readWalletStates(parts, parts.rpcUrls));
  return {
    json: describeWallets(wallets),
    text:
      wallets.length === 0
        ? 'No agent worker has published a wallet yet, and no verifier a relayer.'
        : formatWallets(wallets),
  };
}

export function adopt(name: string, options: WalletOptions & { address?: string }, env: Environment): Promise<string> {
  return withParts(options, env, (parts) => adoptWallet(parts, name, options.address));
}

export function pause(name: string, options: WalletOptions & { reason: string }, env: Environment): Promise<string> {
  return withParts(options, env, (parts) => pauseWallet(parts, name, options.reason));
}

export function resume(name: string, options: WalletOptions, env: Environment): Promise<string> {
  return withParts(options, env, (parts) => resumeWallet(parts, name));
}

export function thaw(name: string, options: WalletOptions, env: Environment): Promise<string> {
  return withParts(options, env, (parts) => thawWallet(parts, name));
}

export function remove(name: string, options: WalletOptions & { force?: true }, env: Environment): Promise<string> {
  return withParts(options, env, (parts) => removeWallet(parts, name, options.force ?? false));
}

export function release(
  name: string,
  options: WalletOptions & { cancel?: true; yes?: true },
  env: Environment,
): Promise<string> {
  const { cancel = false, yes = false } = options;
  return withParts(options, env, (parts) => releaseAccount(parts, name, { cancels: cancel, isMeant: yes }));
}

function withParts<T>(options: WalletOptions, env: Environment, work: (parts: AccountParts) => Promise<T>): Promise<T> {
  return withRedis(findRedisUrl(options.redis, env), async (redis) => {
    const journal = new Journal({ redis });
    await journal.open();
    // Not opened: what it keeps of a relayer's jobs is for the verifiers to say.
    const relayers = new Journal({ redis, fleet: RELAYER_FLEET });
    return work({
      journal,
      relayers,
      directory: new WalletDirectory(redis),
      rpcUrls: findRpcUrls(options.rpc, env),
    });
  }).catch((error: unknown) => {
    throw error instanceof JournalError ? new CommandError(`${error.message} ${error.hint}`) : error;
  });
}
