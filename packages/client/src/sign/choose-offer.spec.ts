import { PaymentError } from '@tollgate/protocol';

import type { ReadWallet } from '../offer/judge-offers.js';
import { parseSignableRequirement, type Offer } from '../offer/signable-requirement.js';
import type { TrustedAsset } from '../offer/trusted-asset.js';
import { chooseOffer, type ChoiceTerms } from './choose-offer.js';

const PAY_TO = `0x${'22'.repeat(20)}` as const;
const STRANGER = `0x${'99'.repeat(20)}` as const;
const usdc: TrustedAsset = { network: 'one', chainId: 1328, address: `0x${'a1'.repeat(20)}`, decimals: 6 };
const otherUsdc: TrustedAsset = { network: 'two', chainId: 84532, address: `0x${'a1'.repeat(20)}`, decimals: 6 };
const ether: TrustedAsset = {
  network: 'two',
  chainId: 84532,
  address: `0x${'e1'.repeat(20)}`,
  decimals: 18,
  maxAmount: '0.0000004',
};

const terms = (asset: TrustedAsset) => ({
  payTo: PAY_TO,
  asset: asset.address,
  maxTimeoutSeconds: 300,
  scheme: 'exact',
});

const signed = (asset: TrustedAsset, changes: object = {}): Offer => {
  const extra = { name: 'USDC', version: '2' };
  const network = `eip155:${asset.chainId}`;
  return parseSignableRequirement({ ...terms(asset), network, amount: '1000', extra, ...changes }, 2);
};
const byPermit = (asset: TrustedAsset, amount: string): Offer =>
  signed(asset, { amount, extra: { name: 'WDEV', version: '1', assetTransferMethod: 'permit2' } });
const transfer = (asset: TrustedAsset): Offer => ({
  ...terms(asset),
  scheme: 'exact',
  network: asset.network,
  maxAmountRequired: '1000',
  resource: '/',
  description: '',
  mimeType: '',
  extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
});
const charge = (asset: TrustedAsset): Offer => ({
  ...terms(asset),
  scheme: 'charge',
  network: `eip155:${asset.chainId}`,
  maxAmountRequired: '1000',
  challenge: { id: 'a', realm: 'gate.example', method: 'evm', intent: 'charge', request: '' },
  extra: { name: null, version: null },
});

const wallet = (chainId: number, signs: Omit<ReadWallet, 'chainId'> = {}): ReadWallet => ({
  chainId,
  authorizations: { readDomain: async () => ({ name: 'USDC', version: '2' }) },
  permits: { readAllowance: async () => 10n ** 18n },
  ...signs,
});
const silence = async (): Promise<never> => {
  throw new PaymentError('wallet_unavailable', 'The chain does not answer.');
};

const limits = (changes: Partial<ChoiceTerms> = {}): ChoiceTerms => ({
  assets: [usdc, otherUsdc, ether],
  maxAmount: '0.001',
  wallets: [wallet(1328), wallet(84532)],
  ...changes,
});
const good = transfer(otherUsdc);

describe('an offer', () => {
  it.each<[string, Offer, Partial<ChoiceTerms>, string, RegExp]>([
    [
      'above the limit',
      signed(usdc, { amount: '1001' }),
      {},
      'over_limit',
      /asks for 0\.001001 of .* limit of 0\.001\./,
    ],
    ['above the limit of its asset', byPermit(ether, '400000000001'), {}, 'over_limit', /limit of 0\.0000004\./],
    ['of a chain without a wallet', signed(usdc), { wallets: [wallet(84532)] }, 'no_trusted_requirement', /No wallet/],
    ['paid in another way', signed(usdc), { way: 'transfer' }, 'no_trusted_requirement', /by transfer, .*by auth/],
    ['that its wallet cannot sign', signed(usdc), { wallets: cannot('authorizations') }, 'cannot_pay', /sign authoriz/],
    ['by Permit2 for such a wallet', byPermit(usdc, '1'), { wallets: cannot('permits') }, 'cannot_pay', /sign permits/],
    [
      'without an allowance',
      byPermit(usdc, '1'),
      { wallets: withAllowance(0n) },
      'permit2_allowance_missing',
      /may move 0/,
    ],
    [
      'without a domain',
      charge(usdc),
      { wallets: withDomain(async () => null) },
      'cannot_pay',
      /states no EIP-712 domain/,
    ],
    ['of a silent chain', charge(usdc), { wallets: withDomain(silence) }, 'wallet_unavailable', /does not answer/],
  ])('%s is skipped with the reason, and the next one is paid', async (_name, offer, changes, code, message) => {
    const preferred = offer.asset === ether.address ? [ether, otherUsdc] : [usdc, otherUsdc];
    const choice = limits({ assets: preferred, ...changes });
    const { chosen, skipped } = await chooseOffer(choice, { accepts: [good, offer] });
    expect(chosen).toMatchObject({ requirement: good, asset: otherUsdc, wallet: { chainId: 84532 } });
    expect(skipped).toMatchObject([{ requirement: offer, problem: { code, message: expect.stringMatching(message) } }]);
    await expect(chooseOffer(choice, { accepts: [offer] })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      details: { skipped: [{ asset: offer.asset, network: offer.network, code }] },
    });
  });

  it.each<[string, Offer]>([
    ['of another token', signed({ ...usdc, address: STRANGER })],
    ['of the same token on another chain', signed({ ...usdc, chainId: 8453 })],
    ['to a recipient that is not pinned', signed(usdc)],
  ])('%s is not paid, and nothing is said of it where another one is', async (_name, offer) => {
    const choice = limits({ assets: [{ ...usdc, payTo: STRANGER }, otherUsdc] });
    expect(await chooseOffer(choice, { accepts: [offer, good] })).toMatchObject({
      chosen: { asset: otherUsdc },
      skipped: [],
    });
    const message = `This client may not pay with ${offer.asset} on ${offer.network} to ${PAY_TO}.`;
    await expect(chooseOffer(choice, { accepts: [offer] })).rejects.toMatchObject({
      code: 'no_trusted_requirement',
      message,
    });
  });

  it('of a network whose name could be read as another line is named without it', async () => {
    const offer = { ...signed(usdc), network: 'eip155:1\n  goes to   0x1111' };
    await expect(chooseOffer(limits({ assets: [usdc] }), { accepts: [offer] })).rejects.toMatchObject({
      message: `This client may not pay with ${usdc.address} on a network of another name to ${PAY_TO}.`,
    });
  });
});

describe('of several offers', () => {
  it.each<[string, TrustedAsset[], TrustedAsset, number]>([
    ['the first', [usdc, otherUsdc, ether], usdc, 1328],
    ['the second', [otherUsdc, usdc], otherUsdc, 84532],
    ['the third', [ether, otherUsdc, usdc], ether, 84532],
  ])('%s is paid where its asset is preferred, by the wallet of its chain', async (_name, assets, asset, chainId) => {
    const accepts = [transfer(usdc), signed(otherUsdc), byPermit(ether, '400000000000')];
    const { chosen, skipped } = await chooseOffer(limits({ assets }), { accepts });
    expect(chosen).toMatchObject({ asset, wallet: { chainId } });
    expect(skipped).toEqual([]);
  });

  it('the first of the server is paid where they are in one asset', async () => {
    const accepts = [signed(usdc), transfer(usdc)];
    expect((await chooseOffer(limits(), { accepts })).chosen.requirement).toBe(accepts[0]);
  });

  it('one that the caller does not pay is skipped for its reason, and those after the chosen one are named', async () => {
    const problem = new PaymentError('cannot_pay', 'The account has no money there.');
    const accepts = [signed(usdc), transfer(otherUsdc), signed(otherUsdc), signed({ ...usdc, chainId: 8453 })];
    const findProblem: ChoiceTerms['findProblem'] = async ({ asset }) => (asset === usdc ? problem : null);
    expect(await chooseOffer(limits({ findProblem }), { accepts })).toMatchObject({
      chosen: { requirement: accepts[1] },
      skipped: [{ requirement: accepts[0], problem }],
      others: [
        { requirement: accepts[2], asset: otherUsdc },
        { requirement: accepts[3], asset: null, problem: { code: 'no_trusted_requirement' } },
      ],
    });
  });

  it('those of one asset that are skipped for one reason are reported once', async () => {
    const dear = { ...transfer(usdc), maxAmountRequired: '2000' };
    const { skipped } = await chooseOffer(limits(), { accepts: [signed(usdc, { amount: '2000' }), dear, good] });
    expect(skipped).toMatchObject([{ asset: usdc, problem: { code: 'over_limit' } }]);
  });

  it('each is in the error where none is paid, those of one reason once', async () => {
    const accepts = [
      signed(usdc, { amount: '2000' }),
      charge(usdc),
      signed(otherUsdc),
      signed({ ...usdc, chainId: 8453 }),
    ];
    const choice = limits({ wallets: [wallet(1328, { authorizations: { readDomain: async () => null } })] });
    await expect(chooseOffer(choice, { accepts: [...accepts, signed(otherUsdc)] })).rejects.toMatchObject({
      code: 'cannot_pay',
      message: [
        'No offer can be paid.',
        `The server asks for 0.002 of ${usdc.address} on chain 1328, which is more than the limit of 0.001.`,
        `The token ${usdc.address} states no EIP-712 domain, so no payment in it can be signed.`,
        `No wallet is on its chain, to pay with ${usdc.address} on chain 84532.`,
        `This client may not pay with ${usdc.address} on eip155:8453 to ${PAY_TO}.`,
      ].join(' '),
    });
  });

  it('those of a chain that does not answer are not asked for again', async () => {
    let asked = 0;
    const readDomain = (): Promise<never> => {
      asked++;
      return silence();
    };
    const choice = limits({ wallets: [wallet(1328, { authorizations: { readDomain } })] });
    await expect(chooseOffer(choice, { accepts: [charge(usdc), charge(usdc)] })).rejects.toMatchObject({
      code: 'wallet_unavailable',
    });
    expect(asked).toBe(1);
  });
});

function cannot(signer: 'authorizations' | 'permits'): ReadWallet[] {
  const other = signer === 'permits' ? 'authorizations' : 'permits';
  return [{ chainId: 1328, [other]: wallet(1328)[other] }, wallet(84532)];
}

function withAllowance(allowance: bigint): ReadWallet[] {
  return [wallet(1328, { permits: { readAllowance: async () => allowance } }), wallet(84532)];
}

function withDomain(readDomain: () => Promise<{ name: string; version: string } | null>): ReadWallet[] {
  return [wallet(1328, { authorizations: { readDomain } }), wallet(84532)];
}
