import type { Hex } from '@tollgate/protocol';

import type { WalletProvider } from './wallets.js';

/** `balanceOf(address)` */
const BALANCE_SELECTOR = '0x70a08231';

/** The balance in base units on the wallet's chain; null where the wallet does not tell. */
export async function readWalletBalance(provider: WalletProvider, token: Hex, owner: string): Promise<bigint | null> {
  const result = await callToken(provider, token, `${BALANCE_SELECTOR}${wordOf(owner)}`).catch(() => null);
  return isWord(result) ? BigInt(result) : null;
}

export function callToken(provider: WalletProvider, token: string, data: string): Promise<unknown> {
  return provider.request({ method: 'eth_call', params: [{ to: token, data }, 'latest'] });
}

/** An argument of a call. */
export function wordOf(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0');
}

export function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
}
