import { formatTokenAmount } from '@tollgate/protocol';
import type { Address, PublicClient } from 'viem';

import type { LendingMarket, LendingPosition } from '../protocol.js';
import { healthTenThousandths, suppliedBaseUnits, sumAccount } from './account-liquidity.js';
import { comptrollerAbi, marketAbi } from './compound-abi.js';
import type { MarketHolding } from './read-holdings.js';
import type { Market } from './read-markets.js';

/** Values, factors and rates are times 1e18. */
const MANTISSA_DECIMALS = 18;

/** A market's current terms. */
export async function describeMarket(
  client: PublicClient,
  comptroller: Address,
  { address, token }: Market,
  blocksPerYear: bigint,
): Promise<LendingMarket> {
  const contract = { address, abi: marketAbi } as const;
  const [supplyRate, borrowRate, cash, [, collateralFactor]] = await Promise.all([
    client.readContract({ ...contract, functionName: 'supplyRatePerBlock' }),
    client.readContract({ ...contract, functionName: 'borrowRatePerBlock' }),
    client.readContract({ ...contract, functionName: 'getCash' }),
    client.readContract({ address: comptroller, abi: comptrollerAbi, functionName: 'markets', args: [address] }),
  ]);
  return {
    token,
    market: address,
    collateralFactor: formatTokenAmount(collateralFactor, MANTISSA_DECIMALS),
    supplyRatePercent: formatYearlyPercent(supplyRate * blocksPerYear),
    borrowRatePercent: formatYearlyPercent(borrowRate * blocksPerYear),
    cash,
  };
}

/** Percent with four decimals of a rate times 1e18. */
function formatYearlyPercent(rate: bigint): string {
  return formatTokenAmount(rate / 10n ** 12n, 4);
}

/** An account's supplies, debts, and remaining borrowing power. */
export function describePosition(holdings: readonly MarketHolding[]): LendingPosition {
  const counted = sumAccount(holdings);
  const possible = sumAccount(holdings.map((holding) => ({ ...holding, isEntered: true })));
  const health = healthTenThousandths(counted);
  return {
    supplied: holdings
      .filter(({ shares }) => shares > 0n)
      .map((holding) => ({
        token: holding.market.token,
        amountBaseUnits: suppliedBaseUnits(holding),
        isCollateral: holding.isEntered,
      })),
    borrowed: holdings
      .filter(({ borrowed }) => borrowed > 0n)
      .map(({ market: { token }, borrowed }) => ({ token, amountBaseUnits: borrowed })),
    available: formatExcess(possible.collateral, possible.debt),
    shortfall: formatExcess(counted.debt, counted.collateral),
    health: health === null ? null : formatTokenAmount(health, 4),
  };
}

/** The difference of the two, or 0 if it is negative. */
function formatExcess(more: bigint, less: bigint): string {
  return formatTokenAmount(more > less ? more - less : 0n, MANTISSA_DECIMALS);
}
