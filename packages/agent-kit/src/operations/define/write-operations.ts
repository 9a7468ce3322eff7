// Also the entry `@tollgate/agent-kit/operations`, for programs that describe or check jobs and plan nothing.
import type { AgentJobInputs, AgentOperation } from '@tollgate/protocol';
import { z } from 'zod';

import { fieldFacts } from './field-facts.js';
import {
  absentOr,
  amountOrMaxSchema,
  amountOrZeroSchema,
  amountSchema,
  lendingSymbolSchema,
  leverageSchema,
  percentSchema,
  perpsProductSchema,
  poolFeeSchema,
  resourceUrlSchema,
  slippageSchema,
  tokenIdSchema,
  tokenSchema,
  usedAddressSchema,
} from './input-schemas.js';

export { fieldFacts, readFieldFacts, type FieldFacts } from './field-facts.js';

type Shape<Input> = { readonly [Field in keyof Required<Input>]: z.ZodType<Input[Field]> };

const amountOf = (token: string | null) => ({ amountOf: token });

const marketAmountSchema = amountSchema.clone().register(fieldFacts, amountOf('symbol'));
const marketAmountOrMaxSchema = amountOrMaxSchema.clone().register(fieldFacts, amountOf('symbol'));

/** The inputs of a swap and of its quote. */
export const pairSchema = z.object({
  amount: amountSchema
    .describe('Amount of fromToken to sell, in whole units, for example "1.5"')
    .register(fieldFacts, amountOf('fromToken')),
  fromToken: tokenSchema.describe('Token to sell: 0x0 (native), an address, or a listed symbol'),
  toToken: tokenSchema.describe('Token to buy: 0x0 (native), an address, or a listed symbol'),
});

/** The operations that send transactions: what each is called, what it does and what its inputs are. */
export const WRITE_OPERATIONS = {
  transfer: {
    title: 'Transfer tokens',
    description: 'Sends an amount of the native token, or of an ERC-20 token, to an address.',
    input: z.object({
      amount: amountSchema.clone().register(fieldFacts, amountOf('token')),
      to: usedAddressSchema.describe('Address of the recipient'),
      token: absentOr(tokenSchema).describe('Token to send; if omitted, the native token'),
    }),
  },
  approve: {
    title: 'Approve a spender',
    description:
      'Approves a contract to take exactly this amount of an ERC-20 token; 0 revokes an approval. Never unlimited. Other ' +
      'operations approve what they need by themselves.',
    input: z.object({
      token: tokenSchema,
      spender: usedAddressSchema.describe('Address of the spender, which may take the tokens'),
      amount: amountOrZeroSchema.clone().register(fieldFacts, amountOf('token')),
    }),
  },
  transferERC721: {
    title: 'Transfer an NFT',
    description: 'Sends one token of an ERC-721 collection that the account owns to an address.',
    input: z.object({
      contractAddress: usedAddressSchema.describe('Contract address of the collection'),
      to: usedAddressSchema.describe('Address of the recipient'),
      tokenId: tokenIdSchema,
    }),
  },
  mintERC721: {
    title: 'Mint an NFT',
    description: 'Mints a token of an ERC-721 collection whose contract has mint(address,uint256).',
    input: z.object({
      contractAddress: usedAddressSchema.describe('Contract address of the collection'),
      tokenId: tokenIdSchema,
      to: absentOr(usedAddressSchema).describe('Address of the recipient; if omitted, the account'),
    }),
  },
  swap: {
    title: 'Swap tokens',
    description:
      'Sells an amount of one token for another at the best price found, or reverts below the slippage tolerance. The native ' +
      'token and its wrapped form are exchanged one to one.',
    input: pairSchema.extend({ slippageBps: slippageSchema }),
  },
  addLiquidity: {
    title: 'Add liquidity',
    description:
      'Opens a liquidity position over the full price range of a pool of two tokens, which takes them in the proportion of its ' +
      'current price.',
    input: z.object({
      tokenA: tokenSchema,
      tokenB: tokenSchema,
      amountA: amountSchema
        .describe('Maximum amount of tokenA, in whole units')
        .register(fieldFacts, amountOf('tokenA')),
      amountB: amountSchema
        .describe('Maximum amount of tokenB, in whole units')
        .register(fieldFacts, amountOf('tokenB')),
      fee: poolFeeSchema,
      slippageBps: slippageSchema,
    }),
  },
  removeLiquidity: {
    title: 'Remove liquidity',
    description:
      'Removes a part of a liquidity position from its pool, all of it unless a percentage is given, together with the fees ' +
      'it earned. Reverts below the slippage tolerance.',
    input: z.object({
      positionId: tokenIdSchema.describe('Position id, from getLiquidityPositions'),
      percent: percentSchema,
      slippageBps: slippageSchema,
    }),
  },
  mintLending: {
    title: 'Supply to lending',
    description: 'Supplies an amount of a token to its lending market, where it earns interest and can back a loan.',
    input: z.object({ symbol: lendingSymbolSchema, amount: marketAmountSchema }),
  },
  redeemLending: {
    title: 'Withdraw from lending',
    description:
      'Withdraws an amount of a supplied token from its lending market, or MAX for all of it with its interest.',
    input: z.object({ symbol: lendingSymbolSchema, amount: marketAmountOrMaxSchema }),
  },
  borrowLending: {
    title: 'Borrow',
    description:
      'Borrows an amount of a token against what the account has supplied to lending. Supplied tokens become collateral if the loan needs them.',
    input: z.object({ symbol: lendingSymbolSchema, amount: marketAmountSchema }),
  },
  repayLending: {
    title: 'Repay a loan',
    description:
      'Repays an amount of a borrowed token, or MAX for the whole debt with the interest up to the last moment.',
    input: z.object({ symbol: lendingSymbolSchema, amount: marketAmountOrMaxSchema }),
  },
  stake: {
    title: 'Stake',
    description: 'Stakes an amount of the native token for a receipt token, whose value grows with the rewards.',
    input: z.object({ amount: amountSchema.clone().register(fieldFacts, amountOf(null)) }),
  },
  unstake: {
    title: 'Unstake',
    description:
      'Queues an amount of the staked receipt token for unstaking. The native token is fixed now and can be claimed with claimUnstaked once it has matured.',
    input: z.object({ amount: amountSchema.describe('Decimal amount of the receipt token') }),
  },
  claimUnstaked: {
    title: 'Claim what was unstaked',
    description: 'Claims the native token of everything that was unstaked and has matured.',
    input: z.object({}),
  },
  perpsDeposit: {
    title: 'Deposit margin',
    description: 'Deposits an amount of the margin token of the perpetuals exchange into the account’s margin.',
    input: z.object({ amount: amountSchema }),
  },
  perpsWithdraw: {
    title: 'Withdraw margin',
    description:
      'Withdraws an amount of free margin from the perpetuals exchange; margin locked by positions stays there.',
    input: z.object({ amount: amountSchema }),
  },
  perpsOpenPosition: {
    title: 'Open a position',
    description:
      'Opens a long or short position of an amount of the base asset on the perpetuals exchange, or adds to an existing one of that side. The margin has to be deposited before.',
    input: z.object({
      product: perpsProductSchema,
      side: z
        .enum(['long', 'short'])
        .describe('long gains when the price rises, short when it falls')
        .register(fieldFacts, { must: 'be one of long, short' }),
      amount: amountSchema.describe('Decimal amount of the base asset, for example "0.5"'),
      leverage: leverageSchema,
    }),
  },
  perpsClosePosition: {
    title: 'Close a position',
    description: 'Closes a position on the perpetuals exchange: all of it, or an amount of the base asset.',
    input: z.object({
      product: perpsProductSchema,
      amount: absentOr(amountSchema).describe('Decimal amount of the base asset; if omitted, all of it'),
    }),
  },
  payment: {
    title: 'Pay for a resource',
    description:
      'Buys the answer to an HTTP GET that requires a payment (402 Payment Required): reads the price, pays it in a listed token, ' +
      'and shows the answer. Refuses prices above maxAmount.',
    input: z.object({
      url: resourceUrlSchema,
      maxAmount: absentOr(amountSchema).describe('Maximum price, in whole units of the token; default 0.01'),
    }),
  },
} as const satisfies {
  readonly [Name in AgentOperation]: {
    readonly title: string;
    readonly description: string;
    readonly input: z.ZodObject<Shape<AgentJobInputs[Name]>>;
  };
};
