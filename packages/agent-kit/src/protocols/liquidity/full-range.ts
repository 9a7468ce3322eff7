import { divideUp } from '../amount-math.js';

/** The square root of a pool's price, as a fixed-point number with 96 binary digits. */
type SqrtPriceX96 = bigint;

export interface PairAmounts {
  amount0: bigint;
  amount1: bigint;
}

const MAX_TICK = 887_272;
const Q96 = 1n << 96n;
/** sqrt(1.0001) with 128 binary digits. */
const SQRT_TICK_X128 = squareRoot((10_001n << 256n) / 10_000n);

/** The widest range that a pool allows: its ticks are multiples of its spacing. */
export function fullRangeTicks(tickSpacing: number): { tickLower: number; tickUpper: number } {
  const tickUpper = Math.floor(MAX_TICK / tickSpacing) * tickSpacing;
  return { tickLower: -tickUpper, tickUpper };
}

/**
 * The part of two amounts that a full-range position uses at this price: all of one, and the matching amount of the
 * other. Rounds as the pool does, so that nothing is approved that is not used.
 */
export function fitToPrice({ amount0, amount1 }: PairAmounts, price: SqrtPriceX96, tickSpacing: number): PairAmounts {
  const { tickUpper } = fullRangeTicks(tickSpacing);
  const upper = sqrtPriceOfPositiveTick(tickUpper);
  const lower = (Q96 * Q96) / upper;
  if (price <= lower || price >= upper) return { amount0: 0n, amount1: 0n };
  const liquidityOf0 = (amount0 * ((price * upper) / Q96)) / (upper - price);
  const liquidityOf1 = (amount1 * Q96) / (price - lower);
  const liquidity = liquidityOf0 < liquidityOf1 ? liquidityOf0 : liquidityOf1;
  return {
    amount0: divideUp(divideUp(liquidity * Q96 * (upper - price), upper), price),
    amount1: divideUp(liquidity * (price - lower), Q96),
  };
}

function sqrtPriceOfPositiveTick(tick: number): SqrtPriceX96 {
  let power = 1n << 128n;
  for (let factor = SQRT_TICK_X128, rest = tick; rest > 0; rest >>= 1, factor = (factor * factor) >> 128n) {
    if (rest & 1) power = (power * factor) >> 128n;
  }
  return power >> 32n;
}

/** Newton's method, rounded down. */
export function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) / 2n;
    if (next >= root) return root;
    root = next;
  }
}
