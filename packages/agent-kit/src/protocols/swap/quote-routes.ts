import type { Address, PublicClient } from 'viem';

import { isZeroForOne, type Hop } from '../find-pools.js';
import { isRevert } from '../is-revert.js';
import { poolAbi, quoterAbi } from '../uniswap-v3-abi.js';
import { encodePath, type Route } from './find-routes.js';

export interface RouteQuote {
  route: Route;
  amountOut: bigint;
}

// The limits of a pool's price. A swap that reaches one has emptied the pool and leaves the rest of the amount unsold.
const LOWEST_SQRT_PRICE = 4_295_128_739n + 1n;
const HIGHEST_SQRT_PRICE = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n - 1n;

const MILLIONTHS = 1_000_000n;

/** The route that pays most, or null when none takes the whole amount. */
export async function quoteBestRoute(
  client: PublicClient,
  quoter: Address,
  routes: readonly Route[],
  amountIn: bigint,
): Promise<RouteQuote | null> {
  const quotes = await Promise.all(routes.map((route) => quoteRoute(client, quoter, route, amountIn)));
  return quotes.reduce((best, quote) => {
    if (quote === null || quote.amountOut === 0n) return best;
    return best === null || quote.amountOut > best.amountOut ? quote : best;
  }, null);
}

async function quoteRoute(
  client: PublicClient,
  quoter: Address,
  route: Route,
  amountIn: bigint,
): Promise<RouteQuote | null> {
  try {
    const { result } = await client.simulateContract({
      address: quoter,
      abi: quoterAbi,
      functionName: 'quoteExactInput',
      args: [encodePath(route), amountIn],
    });
    const [amountOut, pricesAfter] = result;
    const isEmptied = route.some((hop, index) => pricesAfter[index] === lastPriceOf(hop));
    return isEmptied ? null : { route, amountOut };
  } catch (error) {
    // A pool that cannot make this swap reverts; any other error, such as a node that is down, says nothing about
    // pools.
    if (isRevert(error)) return null;
    throw error;
  }
}

function lastPriceOf(hop: Hop): bigint {
  return isZeroForOne(hop) ? LOWEST_SQRT_PRICE : HIGHEST_SQRT_PRICE;
}

/** The price impact: how much worse the price is than for a tiny amount, without pool fees. */
export async function readPriceImpactBps(
  client: PublicClient,
  { route, amountOut }: RouteQuote,
  amountIn: bigint,
): Promise<bigint> {
  const prices = await Promise.all(
    route.map(async ({ pool }) => {
      const [sqrtPriceX96] = await client.readContract({ address: pool, abi: poolAbi, functionName: 'slot0' });
      return sqrtPriceX96 ** 2n;
    }),
  );
  const unmoved = route.reduce((amount, hop, index) => {
    const priceX192 = prices[index] ?? 0n;
    if (priceX192 === 0n) return 0n;
    const afterFee = (amount * (MILLIONTHS - BigInt(hop.fee))) / MILLIONTHS;
    return isZeroForOne(hop) ? (afterFee * priceX192) >> 192n : (afterFee << 192n) / priceX192;
  }, amountIn);
  // Each pool rounds by up to a unit; for tiny amounts that alone would look like a large loss.
  const isRounding = unmoved <= amountOut + BigInt(route.length);
  return isRounding ? 0n : ((unmoved - amountOut) * 10_000n) / unmoved;
}
