import { formatTokenAmount, MAX_UINT256 } from '@tollgate/protocol';
import { getAddress } from 'viem';
import { z } from 'zod';

import { createExplorerUrl } from '../../chain/monitor-transaction.js';
import { readAllowance, readBalance } from '../../tokens/balance.js';
import { describeTicker, tickerSchema } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import { NATIVE_TOKEN } from '../../types/token.js';
import { absentOr, addressSchema, tokenSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';

export const getAccount = defineRead({
  name: 'getAccount',
  title: 'Show the account',
  description: 'The address that all operations act for, its chain, and its page in the block explorer.',
  input: z.object({}),
  output: z.object({
    address: z.string(),
    chainId: z.number().int(),
    chain: z.string().describe('Name of the chain'),
    nativeToken: z.string().describe('Symbol of the native token, which pays for gas'),
    explorerUrl: z.string().nullable().describe('The account in the block explorer; null if the chain has none'),
  }),
  async read(_input, { account, chainId, chainName, tokens, explorerUrl }) {
    return {
      address: account,
      chainId,
      chain: chainName,
      nativeToken: tokens.native.symbol,
      explorerUrl: createExplorerUrl(explorerUrl, `address/${account}`),
    };
  },
});

export const getERC20Balance = defineRead({
  name: 'getERC20Balance',
  title: 'Read a balance',
  description: 'The account’s balance of the native token, or of an ERC-20 token, exact to the last base unit.',
  input: z.object({ contractAddress: absentOr(tokenSchema).describe('The token; if omitted, the native token') }),
  output: z.object({
    status: z.literal('success'),
    balance: z.string().describe('Decimal amount in whole units'),
    token: tickerSchema,
  }),
  async read({ contractAddress = NATIVE_TOKEN }, context) {
    const token = await context.tokens.resolve(contractAddress);
    const balance = formatTokenAmount(await readBalance(context, token), token.decimals);
    return { status: 'success', balance, token: describeTicker(token) };
  },
});

export const getERC20Allowance = defineRead({
  name: 'getERC20Allowance',
  title: 'Read an allowance',
  description: 'The amount of an ERC-20 token that a spender may take from the account.',
  input: z.object({ token: tokenSchema, spender: addressSchema.describe('Address of the spender') }),
  output: z.object({
    allowance: z.string().describe('Decimal amount in whole units'),
    isUnlimited: z.boolean(),
    spender: z.string(),
    token: tickerSchema,
  }),
  async read(input, context) {
    const token = await context.tokens.resolve(input.token);
    if (token.isNative)
      throw new AgentKitError('INVALID_INPUT', `${token.symbol} is the native token, which has no allowances.`);
    const spender = getAddress(input.spender);
    const allowance = await readAllowance(context, { token, spender });
    return {
      allowance: formatTokenAmount(allowance, token.decimals),
      // Some tokens count an unlimited allowance down, others leave it: either way it is far above any supply.
      isUnlimited: allowance > MAX_UINT256 / 2n,
      spender,
      token: describeTicker(token),
    };
  },
});

export const resolveToken = defineRead({
  name: 'resolveToken',
  title: 'Find a token',
  description:
    'The address and decimals of a token of the chain’s token list, by its symbol; or, for an address, what the contract ' +
    'reports about itself. Never searches the web.',
  input: z.object({ symbol: tokenSchema }),
  output: tickerSchema,
  async read({ symbol }, { tokens }) {
    return describeTicker(await tokens.resolve(symbol));
  },
});

export const listTokens = defineRead({
  name: 'listTokens',
  title: 'List the tokens',
  description: 'The native token and the chain’s token list: the symbols that can be used instead of addresses.',
  input: z.object({}),
  output: z.object({ tokens: z.array(tickerSchema) }),
  async read(_input, { tokens }) {
    return { tokens: [tokens.native, ...tokens.listed].map(describeTicker) };
  },
});
