import { isAddressEqual, zeroAddress, type Address, type PublicClient } from 'viem';

import { factoryAbi, poolAbi } from './uniswap-v3-abi.js';

/** One pool, in the direction of the swap. */
export interface Hop {
  pool: Address;
  tokenIn: Address;
  tokenOut: Address;
  /** In millionths. */
  fee: number;
}

/** The pools of a pair that have liquidity at their present price, one for each fee tier at most. */
export async function findPools(
  client: PublicClient,
  factory: Address,
  { from, to, feeTiers }: { from: Address; to: Address; feeTiers: readonly number[] },
): Promise<(Hop & { liquidity: bigint })[]> {
  const pools = await Promise.all(
    feeTiers.map(async (fee) => {
      const args = [from, to, fee] as const;
      const pool = await client.readContract({ address: factory, abi: factoryAbi, functionName: 'getPool', args });
      if (isAddressEqual(pool, zeroAddress)) return null;
      const liquidity = await client.readContract({ address: pool, abi: poolAbi, functionName: 'liquidity' });
      return liquidity === 0n ? null : { pool, tokenIn: from, tokenOut: to, fee, liquidity };
    }),
  );
  return pools.filter((pool) => pool !== null);
}

/** Pools hold their two tokens in the order of their addresses; the price is the second's per first. */
export function isZeroForOne({ tokenIn, tokenOut }: Pick<Hop, 'tokenIn' | 'tokenOut'>): boolean {
  return BigInt(tokenIn) < BigInt(tokenOut);
}
