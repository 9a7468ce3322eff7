import { formatTokenAmount, MAX_LEVERAGE } from '@tollgate/protocol';

import { parseAmount } from '../../tokens/parse-amount.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import { NATIVE_TOKEN, type TokenAmount } from '../../types/token.js';
import { cleanSymbol, quoteUntrusted } from '../../types/untrusted-text.js';
import { showProduct, type ExchangePosition, type ExchangeProduct } from './describe-perps.js';
import { PERPS_DECIMALS } from './perps-math.js';

/** @throws AgentKitError `LEVERAGE_TOO_HIGH` above 20 (specification, section "Limits"), `INVALID_INPUT` below 1. */
export function assertLeverage(leverage: number): void {
  if (!Number.isInteger(leverage) || leverage < 1) {
    throw new AgentKitError('INVALID_INPUT', `The leverage must be a whole number from 1 to ${MAX_LEVERAGE}.`);
  }
  if (leverage <= MAX_LEVERAGE) return;
  throw new AgentKitError(
    'LEVERAGE_TOO_HIGH',
    `A leverage of ${leverage}x is too high; the maximum is ${MAX_LEVERAGE}x.`,
    { details: { leverage, maximum: MAX_LEVERAGE } },
  );
}

/**
 * The product with this symbol or number, or the only one with this base asset.
 * @throws AgentKitError `INVALID_INPUT` with the list of products.
 */
export function findProduct(products: readonly ExchangeProduct[], reference: string): ExchangeProduct {
  const wanted = reference.toLowerCase();
  const named = products.filter(({ id, symbol }) => symbol.toLowerCase() === wanted || String(id) === wanted);
  const based = products.filter(({ baseAsset }) => baseAsset.toLowerCase() === wanted);
  const [match, ...others] = named.length > 0 ? named : based;
  if (match && others.length === 0) return match;
  const symbols = products.map(showProduct);
  throw new AgentKitError(
    'INVALID_INPUT',
    `${quoteUntrusted(reference, 40)} is not one product; there are ${symbols.join(', ')}.`,
    { details: { product: reference.slice(0, 40), products: symbols } },
  );
}

/** @throws AgentKitError `PROTOCOL_FAILED` for a product that is listed but not traded. */
export function assertActive(product: ExchangeProduct): void {
  if (product.active && product.markPrice > 0n) return;
  throw new AgentKitError('PROTOCOL_FAILED', `${showProduct(product)} is not active: it is not traded now.`, {
    details: { product: showProduct(product) },
    suggestion: 'Choose a product that perpsGetProducts shows as active.',
  });
}

/**
 * The quantity of a decimal text in the base asset. @throws AgentKitError `INVALID_INPUT` if it is not a multiple of
 * the product's step.
 */
export function parseOrderQuantity(product: ExchangeProduct, text: string): bigint {
  const symbol = cleanSymbol(product.baseAsset);
  const unit = { address: NATIVE_TOKEN, symbol, decimals: PERPS_DECIMALS, isNative: false, isListed: true } as const;
  const { amountBaseUnits: quantity } = parseAmount(text, unit);
  if (product.increment > 0n && quantity % product.increment === 0n) return quantity;
  throw refuseQuantity(product, `must be a multiple of ${show(product.increment)} ${symbol}`, quantity);
}

/**
 * @throws AgentKitError `BELOW_MINIMUM`, or `INVALID_INPUT` if it exceeds the product's maximum together with the
 * existing position.
 */
export function assertQuantity(product: ExchangeProduct, quantity: bigint, held: bigint): void {
  const symbol = cleanSymbol(product.baseAsset);
  if (quantity < product.minQuantity) {
    const minimum = show(product.minQuantity);
    throw new AgentKitError('BELOW_MINIMUM', `${show(quantity)} ${symbol} is below the minimum amount of ${minimum}.`, {
      details: { product: showProduct(product), minimum },
    });
  }
  if (held + quantity <= product.maxQuantity) return;
  const already = held === 0n ? '' : ` with the ${show(held)} held`;
  throw refuseQuantity(product, `must be at most ${show(product.maxQuantity)} ${symbol}${already}`, quantity);
}

/** @throws AgentKitError `INVALID_INPUT`: the exchange allows one side per product only. */
export function assertSameSide(product: ExchangeProduct, held: ExchangePosition | undefined, isLong: boolean): void {
  if (!held || held.isLong === isLong) return;
  throw new AgentKitError(
    'INVALID_INPUT',
    `There is already a ${held.isLong ? 'long' : 'short'} position in ${showProduct(product)}.`,
    { details: { product: showProduct(product) }, suggestion: 'Close it before opening the other side.' },
  );
}

/** @throws AgentKitError `INSUFFICIENT_MARGIN` with the figures. */
export function assertMargin(needed: TokenAmount, freeBaseUnits: bigint): void {
  const { token, amountBaseUnits } = needed;
  if (amountBaseUnits <= freeBaseUnits) return;
  const required = formatTokenAmount(amountBaseUnits, token.decimals);
  const available = formatTokenAmount(freeBaseUnits, token.decimals);
  throw new AgentKitError(
    'INSUFFICIENT_MARGIN',
    `The free margin is too low: ${required} ${token.symbol} needed, ${available} ${token.symbol} free.`,
    { details: { token: token.symbol, required, available } },
  );
}

/** The position to close. @throws AgentKitError `INVALID_INPUT` without one, or if it is smaller than the quantity. */
export function assertHeld(
  product: ExchangeProduct,
  held: ExchangePosition | undefined,
  quantity: bigint | null,
): ExchangePosition {
  if (!held) {
    throw new AgentKitError('INVALID_INPUT', `There is no position in ${showProduct(product)}.`, {
      details: { product: showProduct(product) },
    });
  }
  if (quantity === null || quantity <= held.quantity) return held;
  throw refuseQuantity(product, `is more than the ${show(held.quantity)} of the position`, quantity);
}

function refuseQuantity(product: ExchangeProduct, why: string, quantity: bigint): AgentKitError {
  return new AgentKitError('INVALID_INPUT', `The amount ${show(quantity)} of ${showProduct(product)} ${why}.`, {
    details: {
      product: showProduct(product),
      increment: show(product.increment),
      minQuantity: show(product.minQuantity),
      maxQuantity: show(product.maxQuantity),
    },
  });
}

function show(quantity: bigint): string {
  return formatTokenAmount(quantity, PERPS_DECIMALS);
}
