import {
  decodeAbiParameters,
  encodeFunctionData,
  maxUint128,
  zeroAddress,
  type Address,
  type GetContractReturnType,
  type Hex,
  type PublicClient,
} from 'viem';

import type { StepFailures } from '../../types/plan.js';
import { positionManagerAbi } from '../uniswap-v3-pools.js';
import type { PairAmounts } from './full-range.js';

export interface UniswapV3LiquidityOptions {
  /** Address of the NonfungiblePositionManager. */
  positionManager: Address;
  /** The factory that the position manager must name; if omitted: any. */
  factory?: Address;
  wrappedNative: Address;
  chainIds: readonly number[];
  /** The fee tiers among which the pool that holds most is searched, in millionths. */
  feeTiers?: readonly number[];
}

export type PositionManager = GetContractReturnType<typeof positionManagerAbi, PublicClient>;

export interface Position {
  positionId: bigint;
  token0: Address;
  token1: Address;
  fee: number;
  liquidity: bigint;
  /** Fees that the contract has counted so far. */
  owed: PairAmounts;
}

/** The current value of a part of a position: of its liquidity, and of its uncollected fees. */
export interface PositionWorth {
  principal: PairAmounts;
  fees: PairAmounts;
}

export const POSITION_FAILURES: StepFailures = {
  codes: {
    'Price slippage check': 'SLIPPAGE',
    'Insufficient WETH9': 'SLIPPAGE',
    'Insufficient token': 'SLIPPAGE',
    'Transaction too old': 'PLAN_EXPIRED',
  },
};

export const NOTHING: PairAmounts = { amount0: 0n, amount1: 0n };

export function isNothing({ amount0, amount1 }: PairAmounts): boolean {
  return amount0 === 0n && amount1 === 0n;
}

// A simulation never reaches a block, so its deadline has no effect.
const NO_DEADLINE = 2n ** 63n;

export async function readPosition({ read }: PositionManager, positionId: bigint): Promise<Position> {
  const [, , token0, token1, fee, , , liquidity, , , owed0, owed1] = await read.positions([positionId]);
  return { positionId, token0, token1, fee, liquidity, owed: { amount0: owed0, amount1: owed1 } };
}

/** Simulates, as the owner, removing `liquidity` of a position and all its fees, to get the contract's own figures. */
export async function tryRemoval(
  { simulate }: PositionManager,
  { position, owner, liquidity }: { position: Position; owner: Address; liquidity: bigint },
): Promise<PositionWorth> {
  const { positionId } = position;
  const decrease = encodeDecrease({ positionId, liquidity, minimums: NOTHING, deadline: NO_DEADLINE });
  const collect = encodeCollect(positionId, zeroAddress);
  const calls = liquidity === 0n ? [collect] : [decrease, collect];
  const { result } = await simulate.multicall([calls], { account: owner });
  const principal = liquidity === 0n ? NOTHING : readAmounts(result[0]);
  const all = readAmounts(result.at(-1));
  return {
    principal,
    fees: { amount0: all.amount0 - principal.amount0, amount1: all.amount1 - principal.amount1 },
  };
}

function readAmounts(answer: Hex = '0x'): PairAmounts {
  const [amount0, amount1] = decodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], answer);
  return { amount0, amount1 };
}

export function encodeDecrease(terms: {
  positionId: bigint;
  liquidity: bigint;
  minimums: PairAmounts;
  deadline: bigint;
}): Hex {
  const { positionId: tokenId, liquidity, deadline, minimums } = terms;
  const { amount0: amount0Min, amount1: amount1Min } = minimums;
  return encodeFunctionData({
    abi: positionManagerAbi,
    functionName: 'decreaseLiquidity',
    args: [{ tokenId, liquidity, amount0Min, amount1Min, deadline }],
  });
}

/** Collects everything that is owed. @param recipient the manager itself for the zero address. */
export function encodeCollect(positionId: bigint, recipient: Address): Hex {
  return encodeFunctionData({
    abi: positionManagerAbi,
    functionName: 'collect',
    args: [{ tokenId: positionId, recipient, amount0Max: maxUint128, amount1Max: maxUint128 }],
  });
}
