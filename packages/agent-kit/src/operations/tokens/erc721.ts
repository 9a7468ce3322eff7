import {
  encodeFunctionData,
  erc721Abi,
  getAddress,
  isAddressEqual,
  parseAbi,
  type Address,
  type Hex,
  type PublicClient,
} from 'viem';
import { z } from 'zod';

import { readCollection, readOwner } from '../../tokens/read-collection.js';
import { ERC721_FAILURES } from '../../tokens/token-failures.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { PlanDraft } from '../../types/plan.js';
import { quoteUntrusted } from '../../types/untrusted-text.js';
import { addressSchema } from '../define/input-schemas.js';
import { defineListed, defineRead, MOVES_NOTHING } from '../define/operation.js';

export const transferERC721 = defineListed('transferERC721', async (input, { client, account }) => {
  const to = getAddress(input.to);
  const { address, symbol, tokenId, owner, refuse } = await readToken(client, input, to);
  if (isAddressEqual(to, address)) throw refuse(`${to} is the collection itself: tokens sent there are lost.`);
  if (owner === null) throw refuse(`The collection ${symbol} has no token ${tokenId}.`);
  if (!isAddressEqual(owner, account))
    throw refuse(`Token ${tokenId} of ${symbol} belongs to ${owner}, not to the account.`);
  const label = `Send token ${tokenId} of ${symbol} (${address}) to ${to}`;
  // Reverts if the recipient is a contract that cannot hold the token.
  const args = [account, to, tokenId] as const;
  const data = encodeFunctionData({ abi: erc721Abi, functionName: 'safeTransferFrom', args });
  return {
    ...createDraft(label, data, { address, tokenId, to }),
    recipients: [to],
    warnings: isAddressEqual(to, account) ? ['The recipient is the account itself: only fees are spent.'] : [],
  };
});

const mintAbi = parseAbi(['function mint(address to, uint256 tokenId)']);

export const mintERC721 = defineListed('mintERC721', async (input, { client, account }) => {
  const to = getAddress(input.to ?? account);
  const { address, symbol, tokenId, owner, refuse } = await readToken(client, input, to);
  if (owner !== null) throw refuse(`Token ${tokenId} of ${symbol} already exists; it belongs to ${owner}.`);
  const label = `Mint token ${tokenId} of ${symbol} (${address}) for ${to}`;
  const data = encodeFunctionData({ abi: mintAbi, args: [to, tokenId] });
  return {
    ...createDraft(label, data, { address, tokenId, to }),
    recipients: isAddressEqual(to, account) ? [] : [to],
  };
});

/** The collection and the owner of the token of an input, and how the input is refused. */
async function readToken(client: PublicClient, input: { contractAddress: string; tokenId: string }, to: Address) {
  const refuse = (message: string) =>
    new AgentKitError('INVALID_INPUT', message, { details: { to, tokenId: input.tokenId } });
  const tokenId = BigInt(input.tokenId);
  const collection = await readCollection(client, input.contractAddress);
  const owner = await readOwner(client, collection, tokenId);
  return { address: collection.address, symbol: quoteUntrusted(collection.symbol), tokenId, owner, refuse };
}

function createDraft(
  label: string,
  data: Hex,
  { address, tokenId, to }: { address: Address; tokenId: bigint; to: Address },
): PlanDraft {
  return {
    ...MOVES_NOTHING,
    summary: label,
    steps: [{ label, to: address, data, value: 0n, failures: ERC721_FAILURES }],
    report: { contractAddress: address, tokenId: tokenId.toString(), to },
  };
}

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
