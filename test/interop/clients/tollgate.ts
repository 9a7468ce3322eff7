import { createWallet, fetchWithPayment } from '@tollgate/client';
import type { Hex } from 'viem';

import { readAnswer } from './read-answer.mjs';

interface Configuration {
  privateKey: Hex;
  rpcUrl: string;
  chainId: number;
  asset: Hex;
}

/** Our own client: it pays by a transfer of its own, and shows the transaction's hash. */
export function createClient({ privateKey, rpcUrl, chainId, asset }: Configuration) {
  const wallet = createWallet({ account: privateKey, rpcUrl, chainId });
  const assets = ['chain-testnet', 'sei-testnet'].map((network) => ({ network, chainId, address: asset, decimals: 6 }));
  const payingFetch = fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.1' });
  return async (url: string, init: RequestInit) => readAnswer(await payingFetch(url, init), () => null);
}
