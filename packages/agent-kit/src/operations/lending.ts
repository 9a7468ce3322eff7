import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { assertBalance } from '../tokens/balance.js';
import { createSteps } from '../tokens/create-steps.js';
import { parseAmount } from '../tokens/parse-amount.js';
import { formatAmount, showAmount } from '../tokens/show-token.js';
import type { TokenAmount } from '../types/token.js';
import { defineListed, defineRead, MOVES_NOTHING } from './define/operation.js';

export const mintLending = defineListed('mintLending', async (input, context) => {
  const lending = await context.protocols.require('lending');
  const token = await lending.resolveMarket(input.symbol);
  const amount = parseAmount(input.amount, token);
  await assertBalance(context, amount);
  const action = await lending.createSupply(amount);
  return {
    summary: `Supply ${showAmount(amount)} to ${lending.name}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    spends: [amount],
    report: { symbol: token.symbol, amount: formatAmount(amount) },
  };
});

export const redeemLending = defineListed('redeemLending', async (input, context) => {
  const lending = await context.protocols.require('lending');
  const token = await lending.resolveMarket(input.symbol);
  const wanted = input.amount === 'MAX' ? input.amount : parseAmount(input.amount, token).amountBaseUnits;
  const { atLeast, ...action } = await lending.createRedeem(token, wanted, context.account);
  return {
    summary: `Withdraw ${showAmount(atLeast)} from ${lending.name}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    receives: [atLeast],
    report: { symbol: token.symbol, amount: formatAmount(atLeast) },
  };
});

export const borrowLending = defineListed('borrowLending', async (input, context) => {
  const lending = await context.protocols.require('lending');
  const token = await lending.resolveMarket(input.symbol);
  const amount = parseAmount(input.amount, token);
  const { warnings, ...action } = await lending.createBorrow(amount, context.account);
  return {
    summary: `Borrow ${showAmount(amount)} from ${lending.name}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    receives: [amount],
    warnings,
    report: { symbol: token.symbol, amount: formatAmount(amount) },
  };
});

export const repayLending = defineListed('repayLending', async (input, context) => {
  const lending = await context.protocols.require('lending');
  const token = await lending.resolveMarket(input.symbol);
  const wanted = input.amount === 'MAX' ? input.amount : parseAmount(input.amount, token).amountBaseUnits;
  const { atLeast, atMost, warnings, ...action } = await lending.createRepay(token, wanted, context.account);
  await assertBalance(context, atLeast);
  const what = wanted === 'MAX' ? `the whole debt of ${showAmount(atLeast)}` : showAmount(atLeast);
  return {
    summary: `Repay ${what} to ${lending.name}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    spends: [atMost],
    warnings,
    report: { symbol: token.symbol, amount: formatAmount(atLeast) },
  };
});

export const getLendingMarkets = defineRead({
  name: 'getLendingMarkets',
  title: 'List the lending markets',
  description:
    'The tokens that can be supplied and borrowed, with yearly rates in percent and the amounts available to borrow.',
  input: z.object({}),
  output: z.object({
    markets: z.array(
      z.object({
        symbol: z.string(),
        tokenAddress: z.string(),
        market: z.string().describe('Contract address of the market'),
        collateralFactor: z.string().describe('The part of the value that can be borrowed against it'),
        supplyRatePercent: z.string(),
        borrowRatePercent: z.string(),
        cash: z.string().describe('Amount available to borrow or withdraw, in whole units'),
      }),
    ),
  }),
  async read(_input, { protocols }) {
    const lending = await protocols.require('lending');
    const markets = await lending.readMarkets();
    return {
      markets: markets.map(({ token, cash, ...terms }) => ({
        symbol: token.symbol,
        tokenAddress: token.address,
        ...terms,
        cash: formatTokenAmount(cash, token.decimals),
      })),
    };
  },
});

const heldSchema = z.object({ symbol: z.string(), tokenAddress: z.string(), amount: z.string() });

export const getLendingPosition = defineRead({
  name: 'getLendingPosition',
  title: 'Read the lending position',
  description:
    'The supplied and borrowed amounts of the account, its remaining borrowing power, and the health of its loans.',
  input: z.object({}),
  output: z.object({
    supplied: z.array(heldSchema.extend({ isCollateral: z.boolean() })),
    borrowed: z.array(heldSchema),
    available: z.string().describe('Remaining borrowing power, in the unit of the protocol’s prices'),
    shortfall: z.string().describe('By how much the debt is too high, in the same unit'),
    health: z
      .string()
      .nullable()
      .describe(
        'Value of the collateral that counts, divided by debt; below 1 the position can be liquidated; null without a debt',
      ),
  }),
  async read(_input, { protocols, account }) {
    const lending = await protocols.require('lending');
    const { supplied, borrowed, ...limits } = await lending.readPosition(account);
    return {
      supplied: supplied.map(({ isCollateral, ...amount }) => ({ ...describeHeld(amount), isCollateral })),
      borrowed: borrowed.map(describeHeld),
      ...limits,
    };
  },
});

function describeHeld(held: TokenAmount): z.output<typeof heldSchema> {
  return { symbol: held.token.symbol, tokenAddress: held.token.address, amount: formatAmount(held) };
}
