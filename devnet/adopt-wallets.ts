import { WalletDirectory } from '@tollgate/agent-jobs';
import { Journal } from '@tollgate/journal';
import { numberToHex, type Address } from 'viem';

import { adoptWallet } from '../tools/cli/wallets/wallet-commands.js';
import { callRpc } from './json-rpc.js';
import { withRedis } from './with-redis.js';

export interface WalletsToAdopt {
  redisUrl: string;
  rpcUrl: string;
  wallets: readonly { name: string; address: Address }[];
}

/** Does what `npm run wallets -- adopt` does, for each wallet. */
export async function adoptWallets({ redisUrl, rpcUrl, wallets }: WalletsToAdopt): Promise<void> {
  await withParts(redisUrl, async (parts) => {
    for (const { name, address } of wallets) await adoptWallet({ ...parts, rpcUrls: [rpcUrl] }, name, address);
  });
}

/**
 * Adopts them on a chain that has just begun. Redis may be older than the chain: a wallet that was adopted there before gets
 * the nonce on this chain that the journal expects.
 */
export async function adoptOnNewChain(request: WalletsToAdopt): Promise<void> {
  const { redisUrl, rpcUrl, wallets } = request;
  await adoptWallets(request);
  await withParts(redisUrl, async ({ journal, directory }) => {
    for (const { name, address } of wallets) {
      const entry = await directory.find(name);
      const nextNonce = entry && (await journal.readLane(entry.lane)).nextNonce;
      if (nextNonce !== null) await callRpc(rpcUrl, 'anvil_setNonce', [address, numberToHex(nextNonce)]);
    }
  });
}

function withParts(
  redisUrl: string,
  work: (parts: { journal: Journal; directory: WalletDirectory }) => Promise<void>,
): Promise<void> {
  return withRedis(redisUrl, async (redis) => {
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    await work({ journal, directory: new WalletDirectory(redis) });
  });
}
