import { encodePacked, getContract, isAddressEqual, type Address, type Hex, type PublicClient } from 'viem';

import { isRevert } from '../../chain/explain-failure.js';
import { findPools, isZeroForOne, poolAbi, quoterAbi, type Hop } from '../uniswap-v3-pools.js';

export type Route = readonly [Hop, ...Hop[]];

/** The pools of each leg of a way from one token to another, of which a route uses one per leg. */
type Path = readonly (readonly Hop[])[];

/** The ways over one pool, and over two with one of `via` between them; only pools with liquidity. */
export async function findPaths(
  client: PublicClient,
  factory: Address,
  { from, to, via, feeTiers }: { from: Address; to: Address; via: readonly Address[]; feeTiers: readonly number[] },
): Promise<Path[]> {
  const between = via.filter((token) => !isAddressEqual(token, from) && !isAddressEqual(token, to));
  const find = (start: Address, end: Address) => findPools(client, factory, { from: start, to: end, feeTiers });
  const paths = await mapSomeAtATime([null, ...between], (token) =>
    Promise.all(token === null ? [find(from, to)] : [find(from, token), find(token, to)]),
  );
  return paths.filter((path) => path.every((pools) => pools.length > 0));
}

/** Public RPC servers refuse too many calls at once, and each quote runs a whole swap. */
const PATHS_AT_A_TIME = 4;

async function mapSomeAtATime<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += PATHS_AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(start, start + PATHS_AT_A_TIME).map(map))));
  }
  return results;
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
  paths: readonly Path[],
  amountIn: bigint,
): Promise<RouteQuote | null> {
  return findBest(await mapSomeAtATime(paths, (path) => quotePath(client, quoter, path, amountIn)));
}

/**
 * More of the token in the middle never buys less, so the best pool of each leg makes the best route. A quote runs the
 * swap on the node: leg by leg, four fee tiers take eight of them, and not the sixteen of all routes.
 */
async function quotePath(
  client: PublicClient,
  quoter: Address,
  path: Path,
  amountIn: bigint,
): Promise<RouteQuote | null> {
  const [first = [], ...rest] = path;
  let best = findBest(await Promise.all(first.map((hop) => quoteHop(client, quoter, hop, amountIn))));
  for (const pools of rest) {
    if (best === null) return null;
    const { route, amountOut } = best;
    const next = findBest(await Promise.all(pools.map((hop) => quoteHop(client, quoter, hop, amountOut))));
    best = next && { ...next, route: [...route, ...next.route] };
  }
  return best;
}

function findBest(quotes: readonly (RouteQuote | null)[]): RouteQuote | null {
  return quotes.reduce((best, quote) => {
    if (quote === null || quote.amountOut === 0n) return best;
    return best === null || quote.amountOut > best.amountOut ? quote : best;
  }, null);
}

async function quoteHop(client: PublicClient, quoter: Address, hop: Hop, amountIn: bigint): Promise<RouteQuote | null> {
  try {
    const { simulate } = getContract({ address: quoter, abi: quoterAbi, client });
    const [amountOut, [priceAfter]] = (await simulate.quoteExactInput([encodePath([hop]), amountIn])).result;
    return priceAfter === lastPriceOf(hop) ? null : { route: [hop], amountOut };
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
