import { formatTokenAmount } from '@tollgate/protocol';

import { AgentKitError } from '../../types/agent-kit-error.js';
import {
  borrowableBaseUnits,
  chooseCollateral,
  debtValue,
  redeemableBaseUnits,
  suppliedBaseUnits,
} from './account-liquidity.js';
import type { MarketHolding } from './read-holdings.js';

/**
 * The markets to enter for the borrow. The borrow itself enters the market it borrows from.
 * @throws AgentKitError `INSUFFICIENT_COLLATERAL` when all supplies do not cover it at the oracle's prices.
 */
export function assertCollateralCovers(
  holdings: readonly MarketHolding[],
  borrowed: MarketHolding,
  amountBaseUnits: bigint,
): MarketHolding[] {
  const afterBorrow = holdings.map((holding) => (holding === borrowed ? { ...holding, isEntered: true } : holding));
  const chosen = chooseCollateral(afterBorrow, debtValue(borrowed, amountBaseUnits));
  if (chosen) return chosen;
  const { token } = borrowed.market;
  const available = formatTokenAmount(borrowableBaseUnits(holdings, borrowed), token.decimals);
  const wanted = formatTokenAmount(amountBaseUnits, token.decimals);
  throw new AgentKitError(
    'INSUFFICIENT_COLLATERAL',
    `The collateral is too low to borrow ${wanted} ${token.symbol}: at most ${available} ${token.symbol} can be borrowed.`,
    { details: { token: token.symbol, wanted, available } },
  );
}

/**
 * @throws AgentKitError `INSUFFICIENT_BALANCE` when less is supplied, `INSUFFICIENT_COLLATERAL` when the supply is
 * needed for a debt.
 */
export function assertRedeemable(
  holdings: readonly MarketHolding[],
  holding: MarketHolding,
  amountBaseUnits: bigint,
): void {
  const { token } = holding.market;
  const suppliedUnits = suppliedBaseUnits(holding);
  const supplied = formatTokenAmount(suppliedUnits, token.decimals);
  const wanted = formatTokenAmount(amountBaseUnits, token.decimals);
  if (holding.shares === 0n || amountBaseUnits > suppliedUnits) {
    throw new AgentKitError(
      'INSUFFICIENT_BALANCE',
      `Insufficient supply: ${wanted} ${token.symbol} wanted, ${supplied} ${token.symbol} supplied.`,
      { details: { token: token.symbol, wanted, supplied } },
    );
  }
  const available = redeemableBaseUnits(holdings, holding);
  if (amountBaseUnits <= available) return;
  const text = formatTokenAmount(available, token.decimals);
  throw new AgentKitError(
    'INSUFFICIENT_COLLATERAL',
    `The collateral would be too low for the debt: of ${supplied} ${token.symbol} supplied at most ${text} can be withdrawn.`,
    {
      details: { token: token.symbol, wanted, available: text },
      suggestion: 'Withdraw less, repay some of the debt, or add collateral.',
    },
  );
}

/** @throws AgentKitError `INSUFFICIENT_LIQUIDITY` when the market has lent out too much to pay the amount. */
export function assertCash({ market: { token } }: MarketHolding, cash: bigint, amountBaseUnits: bigint): void {
  if (amountBaseUnits <= cash) return;
  const wanted = formatTokenAmount(amountBaseUnits, token.decimals);
  const available = formatTokenAmount(cash, token.decimals);
  throw new AgentKitError(
    'INSUFFICIENT_LIQUIDITY',
    `The lending market has too little liquidity: ${wanted} ${token.symbol} wanted, ${available} ${token.symbol} available.`,
    {
      details: { token: token.symbol, wanted, available },
      suggestion: 'Use a smaller amount, or wait until others repay.',
    },
  );
}
