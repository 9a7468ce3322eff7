import { z } from 'zod';

import { createAddressUrl } from '../../execution/monitor-transaction.js';
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
      explorerUrl: explorerUrl === null ? null : createAddressUrl(explorerUrl, account),
    };
  },
});
