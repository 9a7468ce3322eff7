import { createWallet, fetchWithPayment } from '@tollgate/client';
import { decodeJsonHeader, PAYMENT_RECEIPT, PAYMENT_RESPONSE } from '@tollgate/protocol';
import type { Hex } from 'viem';

import { readAnswer } from './read-answer.mjs';

export interface Configuration {
  privateKey: Hex;
  rpcUrl: string;
  chainId: number;
  asset: Hex;
}

export function readReceipt(header: (name: string) => string | null): object | null {
  const value = header(PAYMENT_RESPONSE) ?? header(PAYMENT_RECEIPT);
  return value ? decodeJsonHeader(value, 65_536) : null;
}

/**
 * Our own client: it pays a gateway by a transfer of its own, and a metered route or any other server by a signature.
 */
export function createClient({ privateKey, rpcUrl, chainId, asset }: Configuration) {
  const wallet = createWallet({ account: privateKey, rpcUrl, chainId });
  const assets = [{ network: 'chain-testnet', chainId, address: asset, decimals: 6 }];
  const payingFetch = fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.1' });
  return async (url: string, init: RequestInit) => readAnswer(await payingFetch(url, init), readReceipt);
}
