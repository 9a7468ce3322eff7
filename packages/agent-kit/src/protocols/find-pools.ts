import { getContract, isAddressEqual, zeroAddress, type Address, type PublicClient } from 'viem';

import { factoryAbi, poolAbi } from './uniswap-v3-abi.js';

/** One pool, in the direction of the swap. */
export interface Hop {
  pool: Address;
  tokenIn: Address;
  tokenOut: Address;
  /** In millionths. */
  fee: number;
}

/** The pools of a pair with liquidity at their current price, at most one for each fee tier. */
export async function findPools(
  client: PublicClient,
  factory: Address,
  { from, to, feeTiers }: { from: Address; to: Address; feeTiers: readonly number[] },
): Promise<(Hop & { liquidity: bigint })[]> {
  const pools = await Promise.all(
    feeTiers.map(async (fee) => {
      const pool = await getContract({ address: factory, abi: factoryAbi, client }).read.getPool([from, to, fee]);
      if (isAddressEqual(pool, zeroAddress)) return null;
      const liquidity = await getContract({ address: pool, abi: poolAbi, client }).read.liquidity();
      return liquidity === 0n ? null : { pool, tokenIn: from, tokenOut: to, fee, liquidity };
    }),
  );
  return pools.filter((pool) => pool !== null);
}

/** Pools order their two tokens by address; the price is the amount of the second per unit of the first. */
export function isZeroForOne({ tokenIn, tokenOut }: Pick<Hop, 'tokenIn' | 'tokenOut'>): boolean {
  return BigInt(tokenIn) < BigInt(tokenOut);
}
