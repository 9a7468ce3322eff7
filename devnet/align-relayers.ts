import { createLaneId, Journal } from '@tollgate/transactions';
import { Redis } from 'ioredis';
import { numberToHex, type Hex } from 'viem';

import { callRpc } from './json-rpc.js';

export interface RelayersToAlign {
  redisUrl: string;
  rpcUrl: string;
  chainId: number;
  relayers: readonly { address: Hex }[];
}

/** Gives relayers the nonces on a chain that has just begun which their journal, in an older Redis, expects. */
export async function alignRelayers({ redisUrl, rpcUrl, chainId, relayers }: RelayersToAlign): Promise<void> {
  const redis = new Redis(redisUrl);
  redis.on('error', () => undefined);
  try {
    const journal = new Journal({ redis, fleet: 'relayers' });
    for (const { address } of relayers) {
      const { nextNonce } = await journal.readLane(createLaneId(chainId, address));
      if (nextNonce !== null) await callRpc(rpcUrl, 'anvil_setNonce', [address, numberToHex(nextNonce)]);
    }
  } finally {
    redis.disconnect();
  }
}
