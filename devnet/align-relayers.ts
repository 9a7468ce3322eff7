import { createLaneId, Journal } from '@tollgate/journal';
import { numberToHex, type Hex } from 'viem';

import { callRpc } from './json-rpc.js';
import { withRedis } from './with-redis.js';

export interface RelayersToAlign {
  redisUrl: string;
  rpcUrl: string;
  chainId: number;
  relayers: readonly { address: Hex }[];
}

/** Sets the nonces of relayers on a new chain to those that their journal, in an older Redis, expects. */
export async function alignRelayers({ redisUrl, rpcUrl, chainId, relayers }: RelayersToAlign): Promise<void> {
  await withRedis(redisUrl, async (redis) => {
    const journal = new Journal({ redis, fleet: 'relayers', timeoutMs: 30_000 });
    for (const { address } of relayers) {
      const { nextNonce } = await journal.readLane(createLaneId(chainId, address));
      if (nextNonce !== null) await callRpc(rpcUrl, 'anvil_setNonce', [address, numberToHex(nextNonce)]);
    }
  });
}
