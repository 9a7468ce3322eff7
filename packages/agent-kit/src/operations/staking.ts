import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { assertBalance } from '../tokens/balance.js';
import { createSteps } from '../tokens/create-steps.js';
import { parseAmount } from '../tokens/parse-amount.js';
import { formatAmount, showAmount } from '../tokens/show-token.js';
import { amountSchema } from './define/input-schemas.js';
import { defineListed, defineRead, MOVES_NOTHING } from './define/operation.js';

export const stake = defineListed('stake', async (input, context) => {
  const staking = await context.protocols.require('staking');
  const amount = parseAmount(input.amount, context.tokens.native);
  const action = await staking.createStake(amount.amountBaseUnits);
  await assertBalance(context, amount);
  const quote = await staking.quoteStake(amount.amountBaseUnits);
  // A tenth of a percent less, for the rewards that the receipt token gains until this is mined.
  const atLeast = { ...quote, amountBaseUnits: (quote.amountBaseUnits * 999n) / 1000n };
  return {
    summary: `Stake ${showAmount(amount)} for about ${showAmount(quote)}`,
    steps: createSteps(action),
    spends: [amount],
    receives: [atLeast],
    recipients: [],
    report: { amount: formatAmount(amount), stakedToken: quote.token.symbol },
  };
});

export const unstake = defineListed('unstake', async (input, context) => {
  const staking = await context.protocols.require('staking');
  const amount = parseAmount(input.amount, await staking.readStakedToken());
  await assertBalance(context, amount);
  const [action, { amountWei, unbondingSeconds }] = await Promise.all([
    staking.createUnstake(amount.amountBaseUnits),
    staking.quoteUnstake(amount.amountBaseUnits),
  ]);
  const queued = { token: context.tokens.native, amountBaseUnits: amountWei };
  return {
    summary: `Unstake ${showAmount(amount)}: ${showAmount(queued)} can be claimed after ${unbondingSeconds} seconds`,
    steps: createSteps(action),
    spends: [amount],
    receives: [queued],
    recipients: [],
    report: { amount: formatAmount(amount), unbondingSeconds: String(unbondingSeconds) },
  };
});

export const claimUnstaked = defineListed('claimUnstaked', async (_input, context) => {
  const staking = await context.protocols.require('staking');
  const { amountWei, ...action } = await staking.createClaim(context.account);
  const amount = { token: context.tokens.native, amountBaseUnits: amountWei };
  return {
    summary: `Claim ${showAmount(amount)}`,
    steps: createSteps(action),
    ...MOVES_NOTHING,
    receives: [amount],
    report: { amount: formatAmount(amount) },
  };
});

export const getStakeQuote = defineRead({
  name: 'getStakeQuote',
  title: 'Quote a stake',
  description: 'How much of the receipt token a stake of the native token brings now, and the minimum stake.',
  input: z.object({ amount: amountSchema }),
  output: z.object({
    amount: z.string(),
    receives: z.string().describe('Decimal amount of the receipt token'),
    stakedToken: z.string(),
    minimumAmount: z.string().describe('Minimum stake'),
  }),
  async read(input, { protocols, tokens: { native } }) {
    const staking = await protocols.require('staking');
    const { amountBaseUnits: amountWei } = parseAmount(input.amount, native);
    const [quote, minimumWei] = await Promise.all([staking.quoteStake(amountWei), staking.readMinimumStakeWei()]);
    return {
      amount: formatTokenAmount(amountWei, native.decimals),
      receives: formatAmount(quote),
      stakedToken: quote.token.symbol,
      minimumAmount: formatTokenAmount(minimumWei, native.decimals),
    };
  },
});

export const getStakingPosition = defineRead({
  name: 'getStakingPosition',
  title: 'Read the staking position',
  description: 'The staked amount of the account, its current worth, and the amounts queued for unstaking.',
  input: z.object({}),
  output: z.object({
    staked: z.string().describe('Decimal amount of the receipt token'),
    stakedToken: z.string(),
    worth: z.string().describe('Decimal amount of the native token'),
    queued: z.array(z.object({ ticketId: z.string(), amount: z.string(), claimableAt: z.string() })),
    claimable: z.string().describe('Amount that can be claimed now, in the native token'),
  }),
  async read(_input, { protocols, account, tokens: { native } }) {
    const staking = await protocols.require('staking');
    const { staked, worthWei, queued, claimableWei } = await staking.readPosition(account);
    return {
      staked: formatAmount(staked),
      stakedToken: staked.token.symbol,
      worth: formatTokenAmount(worthWei, native.decimals),
      queued: queued.map(({ ticketId, amountWei, claimableAtMs }) => ({
        ticketId,
        amount: formatTokenAmount(amountWei, native.decimals),
        claimableAt: new Date(claimableAtMs).toISOString(),
      })),
      claimable: formatTokenAmount(claimableWei, native.decimals),
    };
  },
});
