import { divideUp } from '../amount-math.js';

/** Quantities and prices of the exchange are times 1e18. */
export const PERPS_DECIMALS = 18;

const BPS = 10_000n;

/** The value of a quantity at a price, in base units of the margin token, rounded up. */
export function notionalBaseUnits(quantity: bigint, price: bigint, marginDecimals: number): bigint {
  return divideUp(quantity * price, 10n ** BigInt(2 * PERPS_DECIMALS - marginDecimals));
}

/** The worst price within the tolerance, never beyond it: the highest for a buyer, the lowest for a seller. */
export function limitPriceFor(markPrice: bigint, slippageBps: number, isBuying: boolean): bigint {
  const tolerance = BigInt(slippageBps);
  return isBuying ? (markPrice * (BPS + tolerance)) / BPS : divideUp(markPrice * (BPS - tolerance), BPS);
}

/** The margin and fee of opening, in base units of the margin token; both rounded up, as by the exchange. */
export function openingCost(
  notional: bigint,
  leverage: number,
  takerFeeBps: bigint,
): { margin: bigint; fee: bigint; total: bigint } {
  const margin = divideUp(notional, BigInt(leverage));
  const fee = feeOf(notional, takerFeeBps);
  return { margin, fee, total: margin + fee };
}

/** The taker's fee of a trade of this value. */
export function feeOf(notional: bigint, takerFeeBps: bigint): bigint {
  return divideUp(notional * takerFeeBps, BPS);
}
