/** Quantities and prices of the exchange are times 1e18. */
export const PERPS_DECIMALS = 18;

const BPS = 10_000n;

/** What a quantity is worth at a price, in base units of the margin token, rounded up. */
export function notionalBaseUnits(quantity: bigint, price: bigint, marginDecimals: number): bigint {
  return divideUp(quantity * price, 10n ** BigInt(2 * PERPS_DECIMALS - marginDecimals));
}

/** The worst price within the tolerance, never beyond it: the highest for who buys, the lowest for who sells. */
export function limitPriceFor(markPrice: bigint, slippageBps: number, isBuying: boolean): bigint {
  const tolerance = BigInt(slippageBps);
  return isBuying ? (markPrice * (BPS + tolerance)) / BPS : divideUp(markPrice * (BPS - tolerance), BPS);
}

/** What opening locks and costs, in base units of the margin token: both rounded up, as the exchange does. */
export function openingCost(
  notional: bigint,
  leverage: number,
  takerFeeBps: bigint,
): { margin: bigint; fee: bigint; total: bigint } {
  const margin = divideUp(notional, BigInt(leverage));
  const fee = feeOf(notional, takerFeeBps);
  return { margin, fee, total: margin + fee };
}

/** The taker's fee of a trade of that worth. */
export function feeOf(notional: bigint, takerFeeBps: bigint): bigint {
  return divideUp(notional * takerFeeBps, BPS);
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
