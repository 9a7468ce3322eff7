/** Wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Wei per gas. */
export interface FeeCaps extends Fees {
  /** Offered where the node suggests no priority fee. */
  defaultPriorityFeePerGas: bigint;
}

/** What a node says of the fees of the next block. Wei per gas. */
export interface FeeView {
  baseFeePerGas: bigint;
  /** Null when the node suggests none. */
  suggestedPriorityFee: bigint | null;
}

/** Fees that stay valid through six full blocks in a row, within the caps. */
export function quoteFees({ baseFeePerGas, suggestedPriorityFee }: FeeView, caps: FeeCaps): Fees {
  const tip = least(suggestedPriorityFee ?? caps.defaultPriorityFeePerGas, caps.maxPriorityFeePerGas);
  const maxFeePerGas = least(2n * baseFeePerGas + tip, caps.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/**
 * Fees for a replacement with the same nonce: both at least an eighth above the last ones, as node pools demand, and no
 * less than the current quote. Null: the caps leave no room.
 */
export function raiseFees(last: Fees, quote: Fees, caps: FeeCaps): Fees | null {
  const leastTip = raise(last.maxPriorityFeePerGas);
  const leastFee = raise(last.maxFeePerGas);
  if (leastTip > caps.maxPriorityFeePerGas || leastFee > caps.maxFeePerGas) return null;
  const maxPriorityFeePerGas = most(leastTip, quote.maxPriorityFeePerGas);
  return { maxFeePerGas: most(most(leastFee, quote.maxFeePerGas), maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/** 12.5 % more, rounded up; always higher than before. */
function raise(fee: bigint): bigint {
  return fee === 0n ? 1n : (fee * 9n + 7n) / 8n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
