import type { PaymentEnvironment } from '@tollgate/config';
import { formatTokenSum } from '@tollgate/protocol';

export interface AssetUnit {
  readonly symbol: string;
  readonly decimals: number;
}

/** The unit of an asset, as a payment or the book names it; null for one that the settings do not describe. */
export type UnitOf = (asset: string | null) => AssetUnit | null;

const COIN: AssetUnit = { symbol: 'native', decimals: 18 };

export function createUnits({ chainId, assetAddress, assetSymbol, assetDecimals }: PaymentEnvironment): UnitOf {
  const token = { symbol: assetSymbol, decimals: assetDecimals };
  const address = assetAddress.toLowerCase();
  return (asset) => {
    if (asset === `${chainId}:native`) return COIN;
    return asset === address || asset === `${chainId}:${address}` ? token : null;
  };
}

/** `-10000` of a token with 6 decimals is `-0.01`; null without an amount or a unit. */
export function toDecimal(baseUnits: string | null, unit: AssetUnit | null): string | null {
  if (baseUnits === null || unit === null) return null;
  return formatTokenSum(BigInt(baseUnits), unit.decimals);
}
