import { isAddress, type Hex } from '@tollgate/protocol';

import type { ChainFacts } from '../page-data.js';
import { explainWallet, isWalletRefusal, walletCodeOf, type WalletProvider } from './wallets.js';

/** Why the payer cannot go on, as one sentence for it. */
export class PageProblem extends Error {}

/** The sentence that a page shows for an error while paying. */
export function explainProblem(error: unknown): string {
  if (error instanceof PageProblem) return error.message;
  return isWalletRefusal(error) ? `${explainWallet(error)} Nothing was paid.` : explainWallet(error);
}

const UNKNOWN_CHAIN = 4902;

/** Asks the wallet for its account. */
export async function readAccount(provider: WalletProvider): Promise<Hex> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' });
  const [account] = Array.isArray(accounts) ? (accounts as unknown[]) : [];
  if (!isAddress(account)) throw new PageProblem('The wallet gave no account. Unlock it, and try again.');
  return account;
}

/** Brings the wallet to the chain, and adds the chain to a wallet that does not know it. */
export async function ensureChain(provider: WalletProvider, chain: ChainFacts): Promise<void> {
  if ((await readWalletChainId(provider)) === chain.id) return;
  const chainId = `0x${chain.id.toString(16)}`;
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (walletCodeOf(error) !== UNKNOWN_CHAIN) throw error;
    await addChain(provider, chain, chainId);
  }
  // Some wallets report success and stay where they are.
  if ((await readWalletChainId(provider)) !== chain.id) {
    throw new PageProblem(
      `The wallet is on another network. Switch it to ${chain.name} (chain ${chain.id}), and try again.`,
    );
  }
}

/** The chain that the wallet is on. */
export async function readWalletChainId(provider: WalletProvider): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

async function addChain(provider: WalletProvider, chain: ChainFacts, chainId: string): Promise<void> {
  if (chain.rpcUrl === null) {
    throw new PageProblem(
      `The wallet does not know ${chain.name} (chain ${chain.id}). Add that network to it, and try again.`,
    );
  }
  const { name: chainName, nativeSymbol, rpcUrl, explorerUrl } = chain;
  const nativeCurrency = { name: nativeSymbol, symbol: nativeSymbol, decimals: 18 };
  const explorer = explorerUrl === null ? {} : { blockExplorerUrls: [explorerUrl] };
  await provider.request({
    method: 'wallet_addEthereumChain',
    params: [{ chainId, chainName, nativeCurrency, rpcUrls: [rpcUrl], ...explorer }],
  });
  // A wallet may add a chain and stay on its own.
  if ((await readWalletChainId(provider)) === chain.id) return;
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
}
