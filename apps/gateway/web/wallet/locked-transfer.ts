import { encodeLockedTransfer, isHash, LOCK_MARKER, type Hex } from '@tollgate/protocol';

import { PageProblem } from './chain.js';
import type { WalletProvider } from './wallets.js';

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** What a transfer moves, and the lock (keccak256 of the reference) that only one challenge opens. */
export interface LockedTransferTerms {
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly amountBaseUnits: string;
  readonly lock: Hex;
}

/** Has the wallet send the transfer. Resolves with its hash before it is mined. */
export async function sendLockedTransfer(
  provider: WalletProvider,
  from: Hex,
  terms: LockedTransferTerms,
  chainId: number,
): Promise<Hex> {
  const { payTo: to, amountBaseUnits, lock } = terms;
  const data = encodeLockedTransfer({ to, amountBaseUnits: BigInt(amountBaseUnits), lock });
  // With the chain, a wallet that was switched in the meantime refuses, and sends nothing elsewhere.
  const transaction = { from, to: terms.asset, value: '0x0', data, chainId: `0x${chainId.toString(16)}` };
  const hash = await provider.request({ method: 'eth_sendTransaction', params: [transaction] });
  if (!isHash(hash))
    throw new PageProblem('The wallet gave no transaction hash. Look into the wallet: it may have paid.');
  return hash;
}

/** The number of the newest block, from which a lost transfer can be searched; null where the wallet does not tell. */
export async function readBlockNumber(provider: WalletProvider): Promise<string | null> {
  try {
    const number = await provider.request({ method: 'eth_blockNumber' });
    return typeof number === 'string' && /^0x[0-9a-f]{1,16}$/i.test(number) ? number : null;
  } catch {
    return null;
  }
}

/** Looks on the chain for a transfer that the wallet sent while the page was closed. Null where there is none. */
export async function findLockedTransfer(
  provider: WalletProvider,
  from: Hex,
  fromBlock: string,
  terms: LockedTransferTerms,
): Promise<Hex | null> {
  const asTopic = (address: Hex): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const topics = [TRANSFER_TOPIC, asTopic(from), asTopic(terms.payTo)];
  const filter = { address: terms.asset, fromBlock, toBlock: 'latest', topics };
  const logs = await provider.request({ method: 'eth_getLogs', params: [filter] });
  const end = `${LOCK_MARKER}${terms.lock.slice(2)}`.slice(2).toLowerCase();
  const hashes = (Array.isArray(logs) ? (logs as { transactionHash?: unknown }[]) : []).map(
    (log) => log.transactionHash,
  );
  for (const hash of new Set(hashes)) {
    if (!isHash(hash)) continue;
    const found = await provider.request({ method: 'eth_getTransactionByHash', params: [hash] });
    const { input } = (found ?? {}) as { input?: unknown };
    if (typeof input === 'string' && input.toLowerCase().includes(end)) return hash;
  }
  return null;
}
