const BASIS_POINTS = 10_000n;

/**
 * The minimum of an expected amount: rounded up, so that for any positive amount it is never 0.
 * @param slippageBps 0 to 10,000; at 10,000 one base unit still remains.
 */
export function subtractSlippage(amountBaseUnits: bigint, slippageBps: number): bigint {
  if (amountBaseUnits <= 0n) return 0n;
  const least = divideUp(amountBaseUnits * (BASIS_POINTS - BigInt(slippageBps)), BASIS_POINTS);
  return least > 0n ? least : 1n;
}

export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
