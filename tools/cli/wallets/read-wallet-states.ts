import type { LaneId, LaneStatus } from '@tollgate/journal';

// The library's index would load Nest, which doubles the start.
import { listAccounts, type Account, type AccountSources } from '../../../libs/agent-jobs/src/wallets/list-accounts.js';
import { withChain } from '../shared/with-chain.js';

export interface WalletState extends Omit<Account, 'names'> {
  /** Null: the account has none. */
  name: string | null;
  status: LaneStatus;
  /** Null where the chain did not answer. */
  onChain: { pendingNonce: number; balanceWei: bigint } | null;
}

/** Every account in the state of the journal and the chain; one with several names is listed under each. */
export async function readWalletStates(sources: AccountSources, rpcUrls: readonly string[]): Promise<WalletState[]> {
  const states = (await listAccounts(sources)).map(async ({ names, ...account }) => {
    const { lane, role } = account;
    const [status, onChain] = await Promise.all([
      (role === 'relayer' ? sources.relayers : sources.journal).readLane(lane),
      readOnChain(lane, rpcUrls).catch(() => null),
    ]);
    const known = names.length === 0 ? [null] : names;
    return known.map((name) => ({ ...account, name, status, onChain }));
  });
  return (await Promise.all(states)).flat();
}

async function readOnChain(lane: LaneId, rpcUrls: readonly string[]): Promise<WalletState['onChain']> {
  if (rpcUrls.length === 0) return null;
  return withChain(lane.chainId, rpcUrls, async (chain) => {
    // The nonce is read first: a chain other than the wallet's refuses it.
    const pendingNonce = await chain.readPendingNonce(lane.address);
    return { pendingNonce, balanceWei: await chain.readBalance(lane.address) };
  });
}
