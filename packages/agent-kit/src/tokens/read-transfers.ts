import { formatTokenAmount } from '@tollgate/protocol';
import {
  getAddress,
  hexToBigInt,
  isAddressEqual,
  size,
  slice,
  toEventSelector,
  type Address,
  type Log,
  type PublicClient,
} from 'viem';
import { z } from 'zod';

import { AgentKitError } from '../types/agent-kit-error.js';
import { NATIVE_TOKEN } from '../types/token.js';
import { readCollection } from './read-collection.js';
import type { TokenResolver } from './resolve-token.js';

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

interface TokenReader {
  client: PublicClient;
  tokens: TokenResolver;
}

type NamedTransfer = z.output<typeof moveSchema>;

const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');

/** The transfers in the contracts' logs, without those of zero. The logs of an unlisted contract may be false. */
export function findTransfers(logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[]): Transfer[] {
  return logs.flatMap((log) => readTransfer(log) ?? []);
}

function readTransfer({ address, topics, data }: Pick<Log, 'address' | 'topics' | 'data'>): Transfer | null {
  const [event, from, to, tokenId] = topics;
  if (event !== TRANSFER_TOPIC || from === undefined || to === undefined) return null;
  const ends = { token: getAddress(address), from: readAddress(from), to: readAddress(to) };
  if (tokenId !== undefined) return { ...ends, tokenId: hexToBigInt(tokenId) };
  if (size(data) !== 32 || hexToBigInt(data) === 0n) return null;
  return { ...ends, amountBaseUnits: hexToBigInt(data) };
}

const readAddress = (topic: `0x${string}`): Address => getAddress(slice(topic, 12));

/** The account's own transfers before those of others, each in the order of the logs. */
export function orderByAccount(transfers: readonly Transfer[], account: Address): Transfer[] {
  const isOwn = ({ from, to }: Transfer) => [from, to].some((address) => isAddressEqual(address, account));
  return [...transfers.filter(isOwn), ...transfers.filter((transfer) => !isOwn(transfer))];
}

/** @throws AgentKitError `NETWORK_ERROR`; a token that cannot be read is shown by its address. */
export function nameTransfers(context: TokenReader, transfers: readonly Transfer[]): Promise<NamedTransfer[]> {
  return Promise.all(transfers.map((transfer) => nameTransfer(context, transfer)));
}

async function nameTransfer(
  { client, tokens }: TokenReader,
  { token: address, from, to, amountBaseUnits, tokenId }: Transfer,
): Promise<NamedTransfer> {
  const unnamed = { token: { ticker: null, address, isListed: false }, from, to };
  if (tokenId !== undefined) {
    const collection = await readCollection(client, address).catch(ignoreUnknown);
    const token = collection ? { ...unnamed.token, ticker: collection.symbol } : unnamed.token;
    return { ...unnamed, token, tokenId: tokenId.toString() };
  }
  const amount = amountBaseUnits ?? 0n;
  const known = address === NATIVE_TOKEN ? tokens.native : await tokens.resolve(address).catch(ignoreUnknown);
  if (!known) return { ...unnamed, amountBaseUnits: amount.toString() };
  const { symbol: ticker, isListed, decimals } = known;
  return { token: { ticker, address, isListed }, amount: formatTokenAmount(amount, decimals), from, to };
}

function ignoreUnknown(error: unknown): null {
  if (error instanceof AgentKitError && error.code === 'UNKNOWN_TOKEN') return null;
  throw error;
}
