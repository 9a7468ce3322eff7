import { encodePacked, isAddressEqual, type Address, type Hex, type PublicClient } from 'viem';

import { findPools, type Hop } from '../find-pools.js';

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
