import { encodeFunctionData, getAddress, isAddressEqual, parseAbi } from 'viem';

import { AgentKitError } from '../../agent-kit-error.js';
import { readCollection, readOwner } from '../../tokens/read-collection.js';
import { ERC721_FAILURES } from '../../tokens/token-failures.js';
import { quoteUntrusted } from '../../tokens/untrusted-text.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

const mintAbi = parseAbi(['function mint(address to, uint256 tokenId)']);

export const mintERC721 = defineWrite({
  name: 'mintERC721',
  ...WRITE_OPERATIONS.mintERC721,
  async plan(input, { client, account }) {
    const to = getAddress(input.to ?? account);
    const tokenId = BigInt(input.tokenId);
    const refuse = (message: string) =>
      new AgentKitError('INVALID_INPUT', message, { details: { to, tokenId: input.tokenId } });
    const collection = await readCollection(client, input.contractAddress);
    const { address } = collection;
    const symbol = quoteUntrusted(collection.symbol);
    const owner = await readOwner(client, collection, tokenId);
    if (owner !== null) throw refuse(`Token ${tokenId} of ${symbol} already exists; it belongs to ${owner}.`);
    const label = `Mint token ${tokenId} of ${symbol} (${address}) for ${to}`;
    return {
      summary: label,
      steps: [
        {
          label,
          to: address,
          data: encodeFunctionData({ abi: mintAbi, args: [to, tokenId] }),
          value: 0n,
          failures: ERC721_FAILURES,
        },
      ],
      spends: [],
      receives: [],
      recipients: isAddressEqual(to, account) ? [] : [to],
      report: { contractAddress: address, tokenId: tokenId.toString(), to },
    };
  },
});
