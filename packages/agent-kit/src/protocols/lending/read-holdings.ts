import { formatTokenAmount } from '@tollgate/protocol';
import { getContract, type Address, type PublicClient } from 'viem';

import { AgentKitError } from '../../types/agent-kit-error.js';
import type { LendingMarket, LendingPosition } from '../protocol.js';
import { healthTenThousandths, sumAccount, suppliedBaseUnits, type LendingHolding } from './account-liquidity.js';
import { comptrollerAbi, marketAbi, priceOracleAbi } from './compound-abi.js';
import type { Market } from './read-markets.js';

export interface MarketHolding extends LendingHolding {
  market: Market;
}

/**
 * An account's supplies and debts in every market it uses, with interest up to now. Prices are read for these markets
 * only, so a broken oracle of another market does no harm.
 * @param wanted a market that is read even if the account does not use it.
 * @throws AgentKitError `PROTOCOL_FAILED` when it uses a market that the kit cannot read: every total would be wrong.
 */
export async function readHoldings(
  client: PublicClient,
  comptroller: Address,
  markets: readonly Market[],
  account: Address,
  wanted?: Market,
): Promise<MarketHolding[]> {
  const all = getContract({ address: comptroller, abi: comptrollerAbi, client }).read;
  const [entered, oracle] = await Promise.all([all.getAssetsIn([account]), all.oracle()]);
  const prices = getContract({ address: oracle, abi: priceOracleAbi, client }).read;
  const unknown = entered.find((address) => !markets.some((market) => market.address === address));
  if (unknown !== undefined) {
    throw new AgentKitError('PROTOCOL_FAILED', `The account uses the market ${unknown}, whose token cannot be read.`, {
      details: { market: unknown },
    });
  }
  const holdings = await Promise.all(
    markets.map(async (market): Promise<MarketHolding | null> => {
      const { read } = getContract({ address: market.address, abi: marketAbi, client });
      const [shares, borrowed] = await Promise.all([read.balanceOf([account]), read.borrowBalanceCurrent([account])]);
      if (shares === 0n && borrowed === 0n && market.address !== wanted?.address) return null;
      const [exchangeRate, price, [, collateralFactor]] = await Promise.all([
        read.exchangeRateCurrent(),
        prices.getUnderlyingPrice([market.address]),
        all.markets([market.address]),
      ]);
      const isEntered = entered.includes(market.address);
      return { market, isEntered, shares, borrowed, exchangeRate, price, collateralFactor };
    }),
  );
  return holdings.filter((holding) => holding !== null);
}

/** Values, factors and rates are times 1e18. */
const MANTISSA_DECIMALS = 18;

/** A market's current terms. */
export async function describeMarket(
  client: PublicClient,
  comptroller: Address,
  { address, token }: Market,
  blocksPerYear: bigint,
): Promise<LendingMarket> {
  const { read } = getContract({ address, abi: marketAbi, client });
  const [supplyRate, borrowRate, cash, [, collateralFactor]] = await Promise.all([
    read.supplyRatePerBlock(),
    read.borrowRatePerBlock(),
    read.getCash(),
    getContract({ address: comptroller, abi: comptrollerAbi, client }).read.markets([address]),
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
