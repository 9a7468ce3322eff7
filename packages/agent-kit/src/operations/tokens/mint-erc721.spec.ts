import { zeroAddress } from 'viem';

import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { kitOf } from '../../../test/create-funded-kit.js';

describe('mintERC721, transferERC721 and getERC721Balance', () => {
  const chain = useChain({ protocols: true });
  const kit = useMade(() => kitOf(chain, 0), beforeAll);
  let nft: string;
  let other: string;
  beforeAll(async () => {
    nft = chain.contracts.nft;
    other = chain.accounts[1]!.address;
  });

  const planMint = (input: { tokenId: string; to?: string; contractAddress?: string }) =>
    kit.plan('mintERC721', { contractAddress: nft, ...input });
  const planTransfer = (input: { tokenId: string; to?: string; contractAddress?: string }) =>
    kit.plan('transferERC721', { contractAddress: nft, to: other, ...input });
  const count = () => kit.getERC721Balance(nft);

  it('mint token 7, count it, and send it on', async () => {
    const mint = await planMint({ tokenId: '7' });
    expect(mint).toMatchObject({
      summary: `Mint token 7 of "TNFT" (${nft}) for ${kit.address}`,
      recipients: [],
      report: { contractAddress: nft, tokenId: '7', to: kit.address },
    });
    await kit.execute(mint);
    expect(await kit.read('getERC721Balance', { contractAddress: nft })).toEqual({
      status: 'success',
      balance: '1',
      token: { ticker: 'TNFT', address: nft },
    });
    const transfer = await planTransfer({ tokenId: '7' });
    expect(transfer).toMatchObject({ summary: `Send token 7 of "TNFT" (${nft}) to ${other}`, recipients: [other] });
    await kit.execute(transfer);
    expect(await count()).toBe('0');
  });

  it('mint the largest possible id', async () => {
    await kit.execute(await planMint({ tokenId: (2n ** 256n - 1n).toString() }));
    expect(await count()).toBe('1');
  });

  it('refuse to mint a token that exists', async () => {
    await kit.execute(await planMint({ tokenId: '8', to: other }));
    await expect(planMint({ tokenId: '8' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `Token 8 of "TNFT" already exists; it belongs to ${other}.`,
    });
  });

  it('refuse to send a token of another owner', async () => {
    await kit.execute(await planMint({ tokenId: '9', to: other }));
    await expect(planTransfer({ tokenId: '9' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `Token 9 of "TNFT" belongs to ${other}, not to the account.`,
    });
    await expect(planTransfer({ tokenId: '12345' })).rejects.toMatchObject({
      message: 'The collection "TNFT" has no token 12345.',
    });
  });

  // A call to an address without code is mined as a success without an effect.
  it.each([
    ['an account', () => other, 'is not a contract on this chain'],
    ['an ERC-20 token', () => chain.asset, 'is not an ERC-721 contract'],
    ['a contract that answers everything', () => chain.contracts.tokens.WSEI, 'is not an ERC-721 contract'],
  ])('refuse %s as the collection', async (_, address, why) => {
    const expected = { code: 'UNKNOWN_TOKEN', message: `${address()} ${why}.` };
    await expect(planMint({ tokenId: '1', contractAddress: address() })).rejects.toMatchObject(expected);
    await expect(planTransfer({ tokenId: '1', contractAddress: address() })).rejects.toMatchObject(expected);
    await expect(kit.getERC721Balance(address())).rejects.toMatchObject(expected);
  });

  it('refuse a recipient that cannot hold the token before anything is sent', async () => {
    await kit.execute(await planMint({ tokenId: '11' }));
    await expect(planTransfer({ tokenId: '11', to: chain.contracts.perps })).rejects.toMatchObject({
      code: 'REVERTED',
      message: `The contract reverted: "ERC721InvalidReceiver(${chain.contracts.perps})".`,
    });
  });

  it('report a mint as failed if another account minted the token first', async () => {
    const first = await planMint({ tokenId: '12' });
    const second = await planMint({ tokenId: '12' });
    await expect(kit.execute(first)).resolves.toMatchObject({ status: 'success' });
    await expectFailure(kit.execute(second), 'REVERTED', expect.stringContaining('ERC721InvalidSender'));
  });

  it('refuse the zero address and the collection itself as the recipient', async () => {
    await kit.execute(await planMint({ tokenId: '10' }));
    await expectFailure(planTransfer({ tokenId: '10', to: zeroAddress }), 'INVALID_INPUT');
    await expectFailure(planTransfer({ tokenId: '10', to: nft }), 'INVALID_INPUT');
    await expectFailure(planMint({ tokenId: '13', to: zeroAddress }), 'INVALID_INPUT');
  });
});
