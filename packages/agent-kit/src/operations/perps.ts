import { z } from 'zod';

import { positionSchema, productSchema } from '../protocols/perps-schemas.js';
import { assertBalance } from '../tokens/balance.js';
import { createSteps } from '../tokens/create-steps.js';
import { parseAmount } from '../tokens/parse-amount.js';
import { formatAmount, showAmount } from '../tokens/show-token.js';
import { anyLeverageSchema } from './define/input-schemas.js';
import { defineListed, defineRead, defineWrite, MOVES_NOTHING } from './define/operation.js';
import { WRITE_OPERATIONS } from './define/write-operations.js';

export const perpsDeposit = defineListed('perpsDeposit', async (input, context) => {
  const perps = await context.protocols.require('perps');
  const amount = parseAmount(input.amount, await perps.readMarginToken());
  await assertBalance(context, amount);
  return {
    summary: `Deposit ${showAmount(amount)} as margin with ${perps.name}`,
    steps: createSteps(await perps.createDeposit(amount)),
    ...MOVES_NOTHING,
    spends: [amount],
    report: { amount: formatAmount(amount), marginToken: amount.token.symbol },
  };
});

export const perpsWithdraw = defineListed('perpsWithdraw', async (input, context) => {
  const perps = await context.protocols.require('perps');
  const amount = parseAmount(input.amount, await perps.readMarginToken());
  return {
    summary: `Withdraw ${showAmount(amount)} of margin from ${perps.name}`,
    steps: createSteps(await perps.createWithdraw(amount, context.account)),
    ...MOVES_NOTHING,
    receives: [amount],
    report: { amount: formatAmount(amount), marginToken: amount.token.symbol },
  };
});

export const perpsOpenPosition = defineWrite({
  name: 'perpsOpenPosition',
  ...WRITE_OPERATIONS.perpsOpenPosition,
  // The protocol refuses a leverage above its maximum, with a code of its own.
  input: WRITE_OPERATIONS.perpsOpenPosition.input.extend({ leverage: anyLeverageSchema }),
  async plan(input, context) {
    const { slippageBps, account } = context;
    const { leverage = 1, side } = input;
    const perps = await context.protocols.require('perps');
    const { product, quantity, baseAsset, limitPrice, fees, locks, ...action } = await perps.createOpen({
      product: input.product,
      side,
      quantity: input.amount,
      leverage,
      slippageBps,
      account,
    });
    const worst = side === 'long' ? 'at most' : 'at least';
    return {
      summary: `Open ${side} ${quantity} ${baseAsset} of ${product} at ${leverage}x for ${worst} ${limitPrice}, with about ${showAmount(locks)} of margin and fee`,
      steps: createSteps(action),
      ...MOVES_NOTHING,
      fees,
      slippageBps,
      report: { product, side, amount: quantity, leverage: String(leverage), limitPrice },
    };
  },
});

export const perpsClosePosition = defineListed('perpsClosePosition', async (input, context) => {
  const { slippageBps, account } = context;
  const perps = await context.protocols.require('perps');
  const { product, side, quantity, baseAsset, limitPrice, fees, ...action } = await perps.createClose({
    product: input.product,
    quantity: input.amount ?? null,
    slippageBps,
    account,
  });
  const worst = side === 'long' ? 'at least' : 'at most';
  return {
    summary: `Close ${side} ${quantity} ${baseAsset} of ${product} for ${worst} ${limitPrice}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    fees,
    slippageBps,
    report: { product, side, amount: quantity, limitPrice },
  };
});

export const perpsGetProducts = defineRead({
  name: 'perpsGetProducts',
  title: 'List the perpetuals',
  description: 'The products of the perpetuals exchange: prices, quantity steps, fees and weights as fractions of 1.',
  input: z.object({}),
  output: z.array(productSchema),
  async read(_input, { protocols }) {
    const perps = await protocols.require('perps');
    return [...(await perps.readProducts())];
  },
});

export const perpsGetPositions = defineRead({
  name: 'perpsGetPositions',
  title: 'Read margin and positions',
  description: 'The account’s free margin on the perpetuals exchange and its open positions with profit or loss.',
  input: z.object({}),
  output: z.object({
    freeMargin: z.string(),
    marginToken: z.string(),
    positions: z.array(positionSchema),
  }),
  async read(_input, { protocols, account }) {
    const perps = await protocols.require('perps');
    const { freeMargin, positions } = await perps.readAccount(account);
    return { freeMargin: formatAmount(freeMargin), marginToken: freeMargin.token.symbol, positions: [...positions] };
  },
});
