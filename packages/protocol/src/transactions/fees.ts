/** Fees of a transaction on a chain with a base fee (EIP-1559), in wei per gas. */
export interface DynamicFees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Fees within one's caps, in wei per gas. */
export interface QuotedFees extends DynamicFees {
  /** On a chain without a base fee: both fees are the gas price of a legacy transaction. */
  isLegacy?: true;
}

/** Fees as the head of the chain asks for them, in wei per gas: a chain without base fee takes legacy transactions. */
export type HeadFees = ({ type: 'eip1559' } & DynamicFees) | { type: 'legacy'; gasPrice: bigint };

/** The upper limits of one's own fees, in wei per gas. */
export interface FeeCaps extends DynamicFees {
  /** Offered where the node suggests no priority fee. */
  defaultPriorityFeePerGas: bigint;
}

/** What a node says of the fees of the next block, in wei per gas. */
export type FeeView =
  | {
      baseFeePerGas: bigint;
      /** Null when the node suggests none. */
      suggestedPriorityFee: bigint | null;
    }
  /** A chain without a base fee. */
  | { baseFeePerGas: null; gasPrice: bigint };

const MOST = 2n ** 256n - 1n;
const NO_CAPS: FeeCaps = { maxFeePerGas: MOST, maxPriorityFeePerGas: MOST, defaultPriorityFeePerGas: 0n };

/** Fees that stay valid through six full blocks in a row, within the caps. */
export function quoteFees(view: FeeView, caps = NO_CAPS): QuotedFees {
  if (view.baseFeePerGas === null) return atPrice(least(view.gasPrice, caps.maxFeePerGas));
  const { baseFeePerGas, suggestedPriorityFee } = view;
  const tip = least(suggestedPriorityFee ?? caps.defaultPriorityFeePerGas, caps.maxPriorityFeePerGas);
  const maxFeePerGas = least(2n * baseFeePerGas + tip, caps.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/**
 * Fees for a replacement with the same nonce: both at least an eighth above the last ones, as node pools demand, and no
 * less than the current quote. Null: the caps leave no room.
 */
export function raiseFees(last: DynamicFees, quote: QuotedFees, caps: FeeCaps): QuotedFees | null {
  const leastFee = raiseByEighth(last.maxFeePerGas);
  if (quote.isLegacy) return leastFee > caps.maxFeePerGas ? null : atPrice(most(leastFee, quote.maxFeePerGas));
  const raised = raise(last, quote);
  const leastTip = raiseByEighth(last.maxPriorityFeePerGas);
  return leastTip > caps.maxPriorityFeePerGas || leastFee > caps.maxFeePerGas ? null : raised;
}

/** The same without caps, for either kind of transaction; a replacement may be of the other kind. */
export function raiseHeadFees(last: HeadFees, quote: HeadFees): HeadFees {
  if (quote.type === 'legacy') {
    return { type: 'legacy', gasPrice: most(raiseByEighth(highestPrice(last)), quote.gasPrice) };
  }
  const before = last.type === 'eip1559' ? last : { maxFeePerGas: last.gasPrice, maxPriorityFeePerGas: last.gasPrice };
  return { type: 'eip1559', ...raise(before, quote) };
}

/** The most that a unit of gas may cost, in wei. */
export function highestPrice(fees: HeadFees): bigint {
  return fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas;
}

function atPrice(gasPrice: bigint): QuotedFees {
  return { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice, isLegacy: true };
}

function raise(last: DynamicFees, quote: DynamicFees): DynamicFees {
  const maxPriorityFeePerGas = most(raiseByEighth(last.maxPriorityFeePerGas), quote.maxPriorityFeePerGas);
  const maxFeePerGas = most(raiseByEighth(last.maxFeePerGas), quote.maxFeePerGas);
  return { maxFeePerGas: most(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/** 12.5 % more, rounded up; always higher than before. */
function raiseByEighth(fee: bigint): bigint {
  return fee === 0n ? 1n : (fee * 9n + 7n) / 8n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
