import { erc721Abi, getAddress, getContract, parseAbi, type Address, type PublicClient } from 'viem';

import { isNoAnswer } from '../chain/explain-failure.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { cleanSymbol } from '../types/untrusted-text.js';

const interfaceAbi = parseAbi(['function supportsInterface(bytes4 interfaceId) view returns (bool)']);
const ERC721_INTERFACE = '0x80ac58cd';

/** An ERC-721 contract. */
export interface Collection {
  address: Address;
  /** The symbol that the contract reports, cut and cleaned. */
  symbol: string;
}

/**
 * The collection at an address. Its code is checked first, because a call to an address without code would succeed and
 * do nothing.
 * @throws AgentKitError `UNKNOWN_TOKEN` when it is not an ERC-721 contract.
 */
export async function readCollection(client: PublicClient, text: string): Promise<Collection> {
  const address = getAddress(text);
  const isContract = (await client.getCode({ address })) !== undefined;
  const isCollection = isContract && (await readsAsCollection(client, address));
  if (!isCollection) {
    const why = isContract ? 'is not an ERC-721 contract' : 'is not a contract on this chain';
    throw new AgentKitError('UNKNOWN_TOKEN', `${address} ${why}.`, { details: { address } });
  }
  const symbol = await client.readContract({ address, abi: erc721Abi, functionName: 'symbol' }).catch(() => '');
  return { address, symbol: cleanSymbol(symbol) };
}

async function readsAsCollection(client: PublicClient, address: Address): Promise<boolean> {
  const { read } = getContract({ address, abi: interfaceAbi, client });
  return read.supportsInterface([ERC721_INTERFACE]).catch((error: unknown) => {
    if (isNoAnswer(error)) throw error;
    return false;
  });
}

/** The owner of a token of the collection; null for a token that does not exist. */
export async function readOwner(
  client: PublicClient,
  { address }: Collection,
  tokenId: bigint,
): Promise<Address | null> {
  return getContract({ address, abi: erc721Abi, client })
    .read.ownerOf([tokenId])
    .catch((error: unknown) => {
      if (isNoAnswer(error)) throw error;
      return null;
    });
}
