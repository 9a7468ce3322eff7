import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { SpendingPolicy } from '@tollgate/agent-kit';
import { createLaneId, readKeySigner } from '@tollgate/journal';

import { readWalletsFile, type OpenedWallet } from './read-wallets-file.js';
import type { WorkerWallet } from './worker-wallet.js';

export interface WalletSources {
  walletPrivateKey?: string;
  policyFile?: string;
  walletsFile?: string;
}

/** The wallet whose key is set in the environment. */
const MAIN = 'main';

/**
 * Opens every wallet in the settings.
 * @param problems collects every problem, one sentence each, without any secret value
 */
export function openWallets(sources: WalletSources, problems: string[]): OpenedWallet[] {
  const { walletPrivateKey, walletsFile, policyFile } = sources;
  if (walletPrivateKey === undefined && walletsFile === undefined) {
    problems.push('WALLET_PRIVATE_KEY or WALLETS_FILE must be set: a worker signs for at least one wallet.');
  }
  if (walletPrivateKey === undefined && policyFile !== undefined) {
    problems.push('POLICY_FILE is the policy of the wallet in WALLET_PRIVATE_KEY, which is not set.');
  }
  const main = walletPrivateKey === undefined ? [] : openMain(walletPrivateKey, policyFile, problems);
  const others = walletsFile === undefined ? [] : readWalletsFile(walletsFile, problems);
  const wallets = [...main, ...others];
  reportDoubles(wallets, problems);
  return wallets;
}

/** The same, with each wallet's lane. */
export function onChain(wallets: readonly OpenedWallet[], chainId: number): WorkerWallet[] {
  return wallets.map((wallet) => ({ ...wallet, lane: createLaneId(chainId, wallet.signer.address) }));
}

function openMain(privateKey: string, policyFile: string | undefined, problems: string[]): OpenedWallet[] {
  const policy = policyFile === undefined ? {} : readPolicy(policyFile, problems);
  const signer = readKeySigner(privateKey);
  if (!signer) {
    problems.push('WALLET_PRIVATE_KEY is not a private key: 32 bytes in hexadecimal (its value is not shown).');
    return [];
  }
  return [{ name: MAIN, address: signer.address, signer, policy, approvalAbove: {} }];
}

function readPolicy(file: string, problems: string[]): SpendingPolicy {
  const path = resolve(file);
  try {
    const policy: unknown = JSON.parse(readFileSync(path, 'utf8'));
    // The content is checked by the code that knows operations and tokens, which would find nothing wrong with a value
    // that is not an object.
    if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return policy;
    problems.push(`POLICY_FILE: ${path} is not a JSON object.`);
    return {};
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problems.push(
      code === undefined ? `POLICY_FILE: ${path} is not JSON.` : `POLICY_FILE: ${path} cannot be read (${code}).`,
    );
    return {};
  }
}

/** Two names for one account would mean two policies and two daily limits for the same balance. */
function reportDoubles(wallets: readonly OpenedWallet[], problems: string[]): void {
  wallets.forEach(({ name, signer }, index) => {
    for (const earlier of wallets.slice(0, index)) {
      if (earlier.name === name)
        problems.push(`The wallet ${name} is in WALLET_PRIVATE_KEY and in WALLETS_FILE. Remove one of them.`);
      else if (earlier.signer.address === signer.address) {
        problems.push(`The wallets ${earlier.name} and ${name} are the same account.`);
      }
    }
  });
}
