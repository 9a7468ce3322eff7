import { formatTokenAmount } from '@tollgate/protocol';
import { getContract, isAddressEqual, parseAbi, zeroAddress, type Address, type PublicClient } from 'viem';

import type { Token } from '../types/token.js';

const factoryAbi = parseAbi(['function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)']);

export const poolAbi = parseAbi([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
]);

/** QuoterV2. It runs the swap and reverts it, so its functions are not views. */
export const quoterAbi = parseAbi([
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)',
]);

/** SwapRouter, the first version, whose parameters have a deadline. */
export const routerAbi = parseAbi([
  'struct ExactInputParams { bytes path; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; }',
  'function exactInput(ExactInputParams params) payable returns (uint256 amountOut)',
  'function multicall(bytes[] data) payable returns (bytes[] results)',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function refundETH() payable',
]);

/** SwapRouter02, which checks the deadline of several calls in one, and not of one call. */
export const router02Abi = parseAbi([
  'struct ExactInputParams { bytes path; address recipient; uint256 amountIn; uint256 amountOutMinimum; }',
  'function exactInput(ExactInputParams params) payable returns (uint256 amountOut)',
  'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
]);

/** NonfungiblePositionManager. */
export const positionManagerAbi = parseAbi([
  'struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }',
  'struct DecreaseLiquidityParams { uint256 tokenId; uint128 liquidity; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }',
  'struct CollectParams { uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max; }',
  'function factory() view returns (address)',
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function balanceOf(address owner) view returns (uint256)',
  'function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)',
  'function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'function decreaseLiquidity(DecreaseLiquidityParams params) payable returns (uint256 amount0, uint256 amount1)',
  'function collect(CollectParams params) payable returns (uint256 amount0, uint256 amount1)',
  'function burn(uint256 tokenId) payable',
  'function multicall(bytes[] data) payable returns (bytes[] results)',
  'function refundETH() payable',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function sweepToken(address token, uint256 amountMinimum, address recipient) payable',
]);

/** The fee tiers of a Uniswap v3 deployment, unless its owners added some, in millionths. */
export const FEE_TIERS: readonly number[] = [100, 500, 3_000, 10_000];

/** Fee tiers for display: `0.3 %`. */
export function formatFeeTier(fee: number): string {
  return `${formatTokenAmount(BigInt(fee), 4)} %`;
}

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

/** The contract that represents a token in pools: pools hold the wrapped token, never the native one. */
export function poolAddressOf(token: Token, wrappedNative: Address): Address {
  return token.isNative ? wrappedNative : token.address;
}
