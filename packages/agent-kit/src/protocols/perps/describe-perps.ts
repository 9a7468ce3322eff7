import { formatTokenAmount } from '@tollgate/protocol';
import type { ContractFunctionReturnType } from 'viem';

import { cleanSymbol, cleanUntrusted } from '../../types/untrusted-text.js';
import type { PerpsPosition, PerpsProduct } from '../protocol.js';
import type { perpsAbi } from './perps-abi.js';
import { PERPS_DECIMALS } from './perps-math.js';

/** The unit of the exchange's numbers. */
export type ExchangeProduct = ContractFunctionReturnType<typeof perpsAbi, 'view', 'products'>[number];
export type ExchangePosition = ContractFunctionReturnType<typeof perpsAbi, 'view', 'positionsOf'>[number];

/** Basis points as a fraction of 1. */
const BPS_DECIMALS = 4;
const MAX_SYMBOL_LENGTH = 32;

/** A product in decimal text; its names are cut to a plausible length. */
export function describeProduct(product: ExchangeProduct): PerpsProduct {
  const amount = (value: bigint) => formatTokenAmount(value, PERPS_DECIMALS);
  const part = (bps: bigint) => formatTokenAmount(bps, BPS_DECIMALS);
  return {
    id: String(product.id),
    symbol: showProduct(product),
    baseAsset: cleanSymbol(product.baseAsset),
    quoteAsset: cleanSymbol(product.quoteAsset),
    active: product.active,
    markPrice: amount(product.markPrice),
    increment: amount(product.increment),
    minQuantity: amount(product.minQuantity),
    maxQuantity: amount(product.maxQuantity),
    makerFee: part(product.makerFeeBps),
    takerFee: part(product.takerFeeBps),
    initialWeight: part(product.initialWeightBps),
    maintenanceWeight: part(product.maintenanceWeightBps),
  };
}

/** @param marginDecimals those of the margin token. */
export function describePerpsPosition(
  position: ExchangePosition,
  products: readonly ExchangeProduct[],
  marginDecimals: number,
): PerpsPosition {
  const { productId, isLong, quantity, entryPrice, margin, unrealizedPnl, liquidationPrice } = position;
  const product = products.find(({ id }) => id === productId);
  return {
    product: product ? showProduct(product) : String(productId),
    side: isLong ? 'long' : 'short',
    quantity: formatTokenAmount(quantity, PERPS_DECIMALS),
    entryPrice: formatTokenAmount(entryPrice, PERPS_DECIMALS),
    margin: formatTokenAmount(margin, marginDecimals),
    unrealizedPnl: formatSigned(unrealizedPnl, marginDecimals),
    liquidationPrice: liquidationPrice === 0n ? null : formatTokenAmount(liquidationPrice, PERPS_DECIMALS),
  };
}

/** A product's symbol, safe to show. */
export function showProduct({ symbol }: Pick<ExchangeProduct, 'symbol'>): string {
  return cleanUntrusted(symbol, MAX_SYMBOL_LENGTH);
}

/** Decimal text with a minus sign below 0. */
export function formatSigned(baseUnits: bigint, decimals: number): string {
  return baseUnits < 0n ? `-${formatTokenAmount(-baseUnits, decimals)}` : formatTokenAmount(baseUnits, decimals);
}
