import { Chain, type Journal, type LaneStatus } from '@tollgate/transactions';
import { createPublicClient, fallback, http } from 'viem';

import type { WalletDirectory, WalletEntry } from '../wallet-directory.js';

export interface WalletState extends WalletEntry {
  status: LaneStatus;
  /** Null where the chain did not say. */
  onChain: { pendingNonce: number; balanceWei: bigint } | null;
}

const TIMEOUT_MS = 5000;

/** Every published wallet as the journal and the chain know it. */
export async function readWalletStates(
  { directory, journal }: { directory: WalletDirectory; journal: Journal },
  rpcUrls: readonly string[],
): Promise<WalletState[]> {
  const entries = await directory.list();
  return Promise.all(
    entries.map(async (entry) => {
      const [status, onChain] = await Promise.all([
        journal.readLane(entry.lane),
        readOnChain(entry, rpcUrls).catch(() => null),
      ]);
      return { ...entry, status, onChain };
    }),
  );
}

async function readOnChain({ lane }: WalletEntry, rpcUrls: readonly string[]): Promise<WalletState['onChain']> {
  if (rpcUrls.length === 0) return null;
  const client = createPublicClient({ transport: fallback(rpcUrls.map((url) => http(url, { timeout: TIMEOUT_MS }))) });
  // The nonce first: it is refused by a chain that is not the wallet's.
  const pendingNonce = await withChain(lane.chainId, rpcUrls, (chain) => chain.readPendingNonce(lane.address));
  return { pendingNonce, balanceWei: await client.getBalance({ address: lane.address }) };
}

/** Works with the chain and closes it. */
export async function withChain<T>(
  chainId: number,
  rpcUrls: readonly string[],
  work: (chain: Chain) => Promise<T>,
): Promise<T> {
  const chain = new Chain({ chainId, rpcUrls, timeoutMs: TIMEOUT_MS });
  try {
    return await work(chain);
  } finally {
    await chain.close();
  }
}

/** The chain that the RPC servers are on, by the first that answers. */
export function readChainId(rpcUrls: readonly string[]): Promise<number> {
  const transport = fallback(rpcUrls.map((url) => http(url, { timeout: TIMEOUT_MS })));
  return createPublicClient({ transport }).getChainId();
}
