import { encodePacked, getContract, isAddressEqual, type Address, type Hex, type PublicClient } from 'viem';

import { isRevert } from '../../chain/explain-failure.js';
import { findPools, isZeroForOne, poolAbi, quoterAbi, type Hop } from '../uniswap-v3-pools.js';

export type Route = readonly [Hop, ...Hop[]];

/**
 * Quoting a route runs the whole swap on the node, so a long list of tokens and tiers must not lead to hundreds of
 * routes.
 */
const MAX_ROUTES = 32;

/**
 * All routes through one pool, and through two with one of `via` between them; only pools with liquidity.
 * @returns direct routes first, at most 32.
 */
export async function findRoutes(
  client: PublicClient,
  factory: Address,
  { from, to, via, feeTiers }: { from: Address; to: Address; via: readonly Address[]; feeTiers: readonly number[] },
): Promise<Route[]> {
  const between = via.filter((token) => !isAddressEqual(token, from) && !isAddressEqual(token, to));
  const [direct, ...detours] = await Promise.all([
    findPools(client, factory, { from, to, feeTiers }),
    ...between.map(async (token) => {
      const [first, second] = await Promise.all([
        findPools(client, factory, { from, to: token, feeTiers }),
        findPools(client, factory, { from: token, to, feeTiers }),
      ]);
      return first.flatMap((one) => second.map((two): Route => [one, two]));
    }),
  ]);
  return [...direct.map((hop): Route => [hop]), ...detours.flat()].slice(0, MAX_ROUTES);
}

/** token, fee, token, fee, token: the encoding of the router and the quoter. */
export function encodePath(route: Route): Hex {
  const types = ['address', ...route.flatMap(() => ['uint24', 'address'])];
  return encodePacked(types, [route[0].tokenIn, ...route.flatMap(({ fee, tokenOut }) => [fee, tokenOut])]);
}

interface RouteQuote {
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
    const { simulate } = getContract({ address: quoter, abi: quoterAbi, client });
    const [amountOut, pricesAfter] = (await simulate.quoteExactInput([encodePath(route), amountIn])).result;
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
      const [sqrtPriceX96] = await getContract({ address: pool, abi: poolAbi, client }).read.slot0();
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
