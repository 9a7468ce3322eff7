import { erc20Abi, getContract, type Address, type PublicClient } from 'viem';

import { showSymbol } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Token } from '../../types/token.js';
import {
  FEE_TIERS,
  findPools,
  formatFeeTier,
  poolAbi,
  poolAddressOf,
  positionManagerAbi,
} from '../uniswap-v3-pools.js';
import type { UniswapV3LiquidityOptions } from './position-manager.js';

type TokenPair = readonly [Token, Token];

interface FoundPool {
  pool: Address;
  /** In millionths. */
  fee: number;
  sqrtPriceX96: bigint;
  warnings: readonly string[];
}

interface PricedPool extends Omit<FoundPool, 'warnings'> {
  /** The product of what the pool holds of both tokens. */
  holdings: bigint;
}

/** Traders leave a difference between two pools that is smaller than their fees: 1 % each in the highest tier. */
const MOST_DIFFERENCE_BPS = 200n;

/**
 * The pair's pool that holds most, or the one of a given fee tier if it has the same price. What a pool reports as its
 * liquidity is no measure: in a range of one tick, at an absurd price, any amount of it costs a dollar.
 * @throws AgentKitError `INSUFFICIENT_LIQUIDITY` without a pool; `INVALID_INPUT` for a tier with another price.
 */
export async function findPool(
  pair: TokenPair,
  fee: number | null,
  options: UniswapV3LiquidityOptions,
  client: PublicClient,
): Promise<FoundPool> {
  const { feeTiers = FEE_TIERS } = options;
  const tiers = fee === null ? feeTiers : [...new Set([...feeTiers, fee])];
  const pools = await readPools(pair, tiers, options, client);
  const reference = pools.reduce<PricedPool | undefined>(
    (most, pool) => (most && most.holdings >= pool.holdings ? most : pool),
    undefined,
  );
  const chosen = fee === null ? reference : pools.find((pool) => pool.fee === fee);
  if (!reference || !chosen) throw refuseMissing(pair, fee);
  if (!isSamePrice(chosen, reference)) throw refusePrice(pair, chosen, reference);
  const isConfirmed = pools.some((pool) => pool !== chosen && isSamePrice(pool, chosen));
  return { ...chosen, warnings: isConfirmed ? [] : [warnOfPrice(pair)] };
}

async function readPools(
  pair: TokenPair,
  feeTiers: readonly number[],
  { positionManager, wrappedNative }: UniswapV3LiquidityOptions,
  client: PublicClient,
): Promise<PricedPool[]> {
  const [from, to] = [poolAddressOf(pair[0], wrappedNative), poolAddressOf(pair[1], wrappedNative)];
  const factory = await getContract({ address: positionManager, abi: positionManagerAbi, client }).read.factory();
  const pools = await findPools(client, factory, { from, to, feeTiers });
  return Promise.all(
    pools.map(async ({ pool, fee }) => {
      const balanceOf = (address: Address) => getContract({ address, abi: erc20Abi, client }).read.balanceOf([pool]);
      const [[sqrtPriceX96], ...held] = await Promise.all([
        getContract({ address: pool, abi: poolAbi, client }).read.slot0(),
        balanceOf(from),
        balanceOf(to),
      ]);
      return { pool, fee, sqrtPriceX96, holdings: held[0] * held[1] };
    }),
  );
}

function isSamePrice(one: PricedPool, other: PricedPool): boolean {
  const [price, reference] = [one.sqrtPriceX96 ** 2n, other.sqrtPriceX96 ** 2n];
  const difference = price > reference ? price - reference : reference - price;
  return difference * 10_000n <= reference * MOST_DIFFERENCE_BPS;
}

function refuseMissing(pair: TokenPair, fee: number | null): AgentKitError {
  const tier = fee === null ? '' : ` with a fee of ${formatFeeTier(fee)}`;
  return new AgentKitError(
    'INSUFFICIENT_LIQUIDITY',
    `There is no pool of ${namePair(pair)}${tier} with liquidity, so there is no price to add at.`,
    { details: { tokens: pair.map(({ address }) => address), fee } },
  );
}

function refusePrice(pair: TokenPair, chosen: PricedPool, reference: PricedPool): AgentKitError {
  const [fee, usual] = [formatFeeTier(chosen.fee), formatFeeTier(reference.fee)];
  return new AgentKitError(
    'INVALID_INPUT',
    `The pool of ${namePair(pair)} with a fee of ${fee} has another price than the one that holds most, with a fee of ${usual}: a deposit would lose the difference.`,
    {
      details: { fee: chosen.fee, pool: chosen.pool, reference: reference.pool },
      suggestion: `Leave the fee out, or use ${reference.fee}.`,
    },
  );
}

function warnOfPrice(pair: TokenPair): string {
  return `No other pool of ${namePair(pair)} confirms the price: make sure that the two amounts are worth the same.`;
}

function namePair(pair: TokenPair): string {
  return pair.map(showSymbol).join(' and ');
}
