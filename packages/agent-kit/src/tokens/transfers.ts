import { formatTokenAmount } from '@tollgate/protocol';
import { getAddress, hexToBigInt, size, slice, toEventSelector, type Address, type Log, type PublicClient } from 'viem';
import { z } from 'zod';

import { NATIVE_TOKEN } from '../types/token.js';
import { readCollection } from './read-collection.js';
import { ignoreUnknownToken, type TokenResolver } from './resolve-token.js';

/** A transfer between two addresses: an amount of the native token or of an ERC-20 token, or one ERC-721 token. */
export interface Transfer {
  token: Address;
  from: Address;
  to: Address;
  amountBaseUnits?: bigint;
  tokenId?: bigint;
}

/** A transfer for display. */
export const moveSchema = z.object({
  token: z.object({
    ticker: z.string().nullable().describe('Null if the contract reports no symbol'),
    address: z.string(),
    isListed: z.boolean().describe('False: the ticker comes from the contract itself, and may be false'),
  }),
  amount: z.string().optional().describe('Decimal amount in whole units'),
  amountBaseUnits: z.string().optional().describe('Instead of amount, if the token reports no decimals'),
  tokenId: z.string().optional().describe('Instead of an amount, for an ERC-721 token'),
  from: z.string(),
  to: z.string(),
});

export type TokenMove = z.output<typeof moveSchema>;

const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');

/** The transfer in a log; null if there is none, or one of zero. The logs of an unlisted contract may be false. */
export function readTransfer({ address, topics, data }: Log): Transfer | null {
  const [event, from, to, tokenId] = topics;
  if (event !== TRANSFER_TOPIC || from === undefined || to === undefined) return null;
  const ends = { token: getAddress(address), from: readAddress(from), to: readAddress(to) };
  if (tokenId !== undefined) return { ...ends, tokenId: hexToBigInt(tokenId) };
  if (size(data) !== 32 || hexToBigInt(data) === 0n) return null;
  return { ...ends, amountBaseUnits: hexToBigInt(data) };
}

const readAddress = (topic: `0x${string}`): Address => getAddress(slice(topic, 12));

/** @throws AgentKitError `NETWORK_ERROR`; a token that cannot be read is shown by its address. */
export async function describeMove(
  { client, tokens }: { client: PublicClient; tokens: TokenResolver },
  { token: address, from, to, amountBaseUnits, tokenId }: Transfer,
): Promise<TokenMove> {
  const unnamed = { token: { ticker: null, address, isListed: false }, from, to };
  if (tokenId !== undefined) {
    const collection = await readCollection(client, address).catch(ignoreUnknownToken);
    const token = collection ? { ...unnamed.token, ticker: collection.symbol } : unnamed.token;
    return { ...unnamed, token, tokenId: tokenId.toString() };
  }
  const amount = amountBaseUnits ?? 0n;
  const known = address === NATIVE_TOKEN ? tokens.native : await tokens.resolve(address).catch(ignoreUnknownToken);
  if (!known) return { ...unnamed, amountBaseUnits: amount.toString() };
  const { symbol: ticker, isListed, decimals } = known;
  return { token: { ticker, address, isListed }, amount: formatTokenAmount(amount, decimals), from, to };
}
