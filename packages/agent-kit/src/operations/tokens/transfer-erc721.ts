import { encodeFunctionData, erc721Abi, getAddress, isAddressEqual } from 'viem';

import { AgentKitError } from '../../agent-kit-error.js';
import { readCollection, readOwner } from '../../tokens/read-collection.js';
import { ERC721_FAILURES } from '../../tokens/token-failures.js';
import { quoteUntrusted } from '../../tokens/untrusted-text.js';
import { defineWrite } from '../define/operation.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const transferERC721 = defineWrite({
  name: 'transferERC721',
  ...WRITE_OPERATIONS.transferERC721,
  async plan(input, { client, account }) {
    const to = getAddress(input.to);
    const tokenId = BigInt(input.tokenId);
    const refuse = (message: string) =>
      new AgentKitError('INVALID_INPUT', message, { details: { to, tokenId: input.tokenId } });
    const collection = await readCollection(client, input.contractAddress);
    const { address } = collection;
    const symbol = quoteUntrusted(collection.symbol);
    if (isAddressEqual(to, address)) throw refuse(`${to} is the collection itself: tokens sent there are lost.`);
    const owner = await readOwner(client, collection, tokenId);
    if (owner === null) throw refuse(`The collection ${symbol} has no token ${tokenId}.`);
    if (!isAddressEqual(owner, account))
      throw refuse(`Token ${tokenId} of ${symbol} belongs to ${owner}, not to the account.`);
    const label = `Send token ${tokenId} of ${symbol} (${address}) to ${to}`;
    return {
      summary: label,
      steps: [
        {
          label,
          to: address,
          // Reverts if the recipient is a contract that cannot hold the token.
          data: encodeFunctionData({ abi: erc721Abi, functionName: 'safeTransferFrom', args: [account, to, tokenId] }),
          value: 0n,
          failures: ERC721_FAILURES,
        },
      ],
      spends: [],
      receives: [],
      recipients: [to],
      warnings: isAddressEqual(to, account) ? ['The recipient is the account itself: only fees are spent.'] : [],
      report: { contractAddress: address, tokenId: tokenId.toString(), to },
    };
  },
});
