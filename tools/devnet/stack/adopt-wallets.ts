import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal, RELAYER_FLEET, type JournalOptions } from '@tollgate/journal';
import { numberToHex, type Address } from 'viem';

import { adoptWallet } from '../../cli/wallets/wallet-commands.js';
import { callRpc } from '../processes/json-rpc.js';
import { withRedis } from '../processes/with-redis.js';

interface Place {
  redisUrl: string;
  rpcUrl: string;
}

export interface WalletsToAdopt extends Place {
  wallets: readonly { name: string; address: Address }[];
}

/** Does what `npm run wallets -- adopt` does, for each wallet. */
export function adoptWallets({ redisUrl, rpcUrl, wallets }: WalletsToAdopt): Promise<void> {
  return withRedis(redisUrl, async (redis) => {
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    const parts = { journal, directory: new WalletDirectory(redis), rpc: () => [rpcUrl] };
    for (const { name, address } of wallets) await adoptWallet(parts, name, address);
  });
}

/** Adopts them on a chain that has just begun. */
export async function adoptOnNewChain(request: WalletsToAdopt & { chainId: number }): Promise<void> {
  await adoptWallets(request);
  await alignNonces(request, request.wallets, {});
}

/** Sets the nonces of relayers on a new chain to those that their journal expects. */
export function alignRelayers(
  request: Place & { chainId: number; relayers: readonly { address: Address }[] },
): Promise<void> {
  return alignNonces(request, request.relayers, { fleet: RELAYER_FLEET });
}

/** Redis may be older than the chain: an account that is known there gets the nonce on this chain that its journal expects. */
function alignNonces(
  { redisUrl, rpcUrl, chainId }: Place & { chainId: number },
  accounts: readonly { address: Address }[],
  options: Pick<JournalOptions, 'fleet'>,
): Promise<void> {
  return withRedis(redisUrl, async (redis) => {
    const journal = new Journal({ redis, timeoutMs: 30_000, ...options });
    for (const { address } of accounts) {
      const { nextNonce } = await journal.readLane(createLaneId(chainId, address));
      if (nextNonce !== null) await callRpc(rpcUrl, 'anvil_setNonce', [address, numberToHex(nextNonce)]);
    }
  });
}
