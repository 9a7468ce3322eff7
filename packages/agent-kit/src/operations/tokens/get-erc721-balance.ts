import { erc721Abi } from 'viem';
import { z } from 'zod';

import { readCollection } from '../../tokens/read-collection.js';
import { addressSchema } from '../define/input-schemas.js';
import { defineRead } from '../define/operation.js';

export const getERC721Balance = defineRead({
  name: 'getERC721Balance',
  title: 'Count NFTs',
  description: 'How many tokens of an ERC-721 collection the account owns.',
  input: z.object({ contractAddress: addressSchema.describe('Contract address of the collection') }),
  output: z.object({
    status: z.literal('success'),
    balance: z.string().describe('Number of tokens, a whole number'),
    token: z.object({ ticker: z.string().describe('Symbol reported by the contract itself'), address: z.string() }),
  }),
  async read({ contractAddress }, { client, account }) {
    const { address, symbol } = await readCollection(client, contractAddress);
    const count = await client.readContract({ address, abi: erc721Abi, functionName: 'balanceOf', args: [account] });
    return { status: 'success' as const, balance: count.toString(), token: { ticker: symbol, address } };
  },
});
