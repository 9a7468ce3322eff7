import { zeroAddress } from 'viem';

import { startChain, type DevnetWithProtocols } from '../../../../devnet/chain.js';
import { createContext, sendSteps } from '../../test/create-context.js';
import { getERC721Balance } from './get-erc721-balance.js';
import { mintERC721 } from './mint-erc721.js';
import type { OperationContext } from './operation.js';
import { transferERC721 } from './transfer-erc721.js';

describe('mintERC721, transferERC721 and getERC721Balance', () => {
  let chain: DevnetWithProtocols;
  let context: OperationContext;
  let nft: string;
  let other: string;
  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    context = await createContext(chain);
    nft = chain.contracts.nft;
    other = chain.accounts[1]!.address;
  }, 60_000);
  afterAll(() => chain?.stop());

  const planMint = (input: { tokenId: string; to?: string; contractAddress?: string }) =>
    mintERC721.plan(mintERC721.input.parse({ contractAddress: nft, ...input }), context);
  const planTransfer = (input: { tokenId: string; to?: string; contractAddress?: string }) =>
    transferERC721.plan(transferERC721.input.parse({ contractAddress: nft, to: other, ...input }), context);
  const count = async () =>
    (await getERC721Balance.read(getERC721Balance.input.parse({ contractAddress: nft }), context)).balance;

  it('mints token 7, counts it, and sends it on', async () => {
    const mint = await planMint({ tokenId: '7' });
    expect(mint).toMatchObject({
      summary: `Mint token 7 of TNFT (${nft}) for ${context.account}`,
      recipients: [],
      report: { contractAddress: nft, tokenId: '7', to: context.account },
    });
    await sendSteps(chain, context, mint);
    expect(await getERC721Balance.read(getERC721Balance.input.parse({ contractAddress: nft }), context)).toEqual({
      status: 'success',
      balance: '1',
      token: { ticker: 'TNFT', address: nft },
    });
    const transfer = await planTransfer({ tokenId: '7' });
    expect(transfer).toMatchObject({ summary: `Send token 7 of TNFT (${nft}) to ${other}`, recipients: [other] });
    await sendSteps(chain, context, transfer);
    expect(await count()).toBe('0');
  });

  it('mints the largest number there is', async () => {
    await sendSteps(chain, context, await planMint({ tokenId: (2n ** 256n - 1n).toString() }));
    expect(await count()).toBe('1');
  });

  it('refuses to mint a token that exists', async () => {
    await sendSteps(chain, context, await planMint({ tokenId: '8', to: other }));
    await expect(planMint({ tokenId: '8' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `Token 8 of TNFT exists already; it belongs to ${other}.`,
    });
  });

  it('refuses to send what the account does not own', async () => {
    await sendSteps(chain, context, await planMint({ tokenId: '9', to: other }));
    await expect(planTransfer({ tokenId: '9' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `Token 9 of TNFT belongs to ${other}, not to the account.`,
    });
    await expect(planTransfer({ tokenId: '12345' })).rejects.toMatchObject({
      message: 'The collection TNFT has no token 12345.',
    });
  });

  // A call to an address without code is mined as a success that did nothing.
  it.each([
    ['an account', () => other, 'is not a contract on this chain'],
    ['an ERC-20 token', () => chain.asset, 'is no ERC-721 contract'],
    ['a contract that answers everything', () => chain.contracts.tokens.WSEI, 'is no ERC-721 contract'],
  ])('refuses %s as the collection', async (_, address, why) => {
    const expected = { code: 'UNKNOWN_TOKEN', message: `${address()} ${why}.` };
    await expect(planMint({ tokenId: '1', contractAddress: address() })).rejects.toMatchObject(expected);
    await expect(planTransfer({ tokenId: '1', contractAddress: address() })).rejects.toMatchObject(expected);
    const input = getERC721Balance.input.parse({ contractAddress: address() });
    await expect(getERC721Balance.read(input, context)).rejects.toMatchObject(expected);
  });

  it('refuses the zero address and the collection itself as the receiver', async () => {
    await sendSteps(chain, context, await planMint({ tokenId: '10' }));
    await expect(planTransfer({ tokenId: '10', to: zeroAddress })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(planTransfer({ tokenId: '10', to: nft })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(planMint({ tokenId: '11', to: zeroAddress })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
