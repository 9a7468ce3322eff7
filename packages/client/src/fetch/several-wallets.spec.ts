import { encodeJsonHeader, PAYMENT_REQUIRED } from '@tollgate/protocol';

import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { startTwoChains, type TwoChains } from '../../../../tools/devnet/chain/two-chains.js';
import { startPaidServer } from '../../test/paid-server.js';
import { assetOf, failureOf, useMade, useOpened, useTransferCount, walletOf } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import type { Wallet } from '../account/wallet.js';
import type { TrustedAsset } from '../offer/trusted-asset.js';
import type { PaymentEvent, PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

const chains = {} as TwoChains;
const wallets = {} as Record<'first' | 'second', Wallet>;
const open = useOpened();
const store = useMade(() => new MemoryPaymentStore());

beforeAll(async () => {
  Object.assign(chains, await startTwoChains());
  const { first, second } = chains;
  Object.assign(wallets, {
    first: walletOf(first, first.accounts[2]!),
    second: walletOf(second, second.accounts[2]!),
  });
});
afterAll(() => chains.stop?.());

const payer = () => chains.first.accounts[2]!.address;
const onChain = (name: 'first' | 'second'): Devnet =>
  new Proxy({} as Devnet, { get: (_, field) => chains[name][field as keyof Devnet] });
const paidOnFirst = useTransferCount(onChain('first'), payer);
const paidOnSecond = useTransferCount(onChain('second'), payer);

const both = (): TrustedAsset[] => [assetOf(chains.first), { ...assetOf(chains.second), network: 'chain-testnet-2' }];
const buy = (url: string, by: Wallet | readonly Wallet[], changes: Partial<PaymentOptions> = {}) =>
  fetchWithPayment(fetch, by, { assets: both(), maxAmount: '0.001', store, ...changes })(url);

describe('a client with a wallet on each of two chains', () => {
  /** Of the published protocol, which settles on the second chain and offers the first one too. */
  const startShop = async () => {
    const shop = await open(startSigningShop(chains.second, 2));
    shop.offer = { network: 'eip155:1328' };
    shop.others = [{ network: 'eip155:84532' }];
    return shop;
  };

  it('pays on the chain of the asset that it prefers', async () => {
    const shop = await startShop();
    const assets = both().reverse();
    expect((await buy(shop.url, [wallets.first, wallets.second], { assets })).status).toBe(200);
    expect([await paidOnFirst(), await paidOnSecond()]).toEqual([0, 1]);
    expect(await store.list()).toMatchObject([
      { payment: { chainId: 84532, requirement: { network: 'eip155:84532' } } },
    ]);
  });

  it('pays on the second where the first asks too much, and says so', async () => {
    const shop = await startShop();
    shop.offer['amount'] = '1001';
    shop.others[0]!['amount'] = '1000';
    const events: PaymentEvent[] = [];
    await buy(shop.url, [wallets.first, wallets.second], { onEvent: (event) => events.push(event) });
    expect(await paidOnSecond()).toBe(1);
    expect(events).toMatchObject([
      { type: 'skipped', requirement: { network: 'eip155:1328' }, problem: { code: 'over_limit' } },
      { type: 'intended', payment: { chainId: 84532 } },
      { type: 'signed' },
      { type: 'redeemed' },
    ]);
  });

  it.each(['one wallet', 'a list of one wallet'])('pays by %s alike', async (form) => {
    const shop = await startShop();
    const by = form === 'one wallet' ? wallets.second : [wallets.second];
    expect((await buy(shop.url, by)).status).toBe(200);
    expect(await paidOnSecond()).toBe(1);
  });

  // Prevents: the payment of a crashed run is looked for on the other chain, and made again there.
  it('redeems a stored transfer by the wallet of its chain', async () => {
    const server = await open(startPaidServer(chains.second));
    const assets = [assetOf(chains.first), { ...assetOf(chains.second), network: 'chain-testnet' }].reverse();
    // The answer does not come in time, as if the process had crashed after the transfer.
    server.interfere = [(response) => Boolean(response.writeHead(503, { 'Retry-After': '60' }).end())];
    const events: PaymentEvent[] = [];
    const options = { assets, deadlineMs: 2_000, onEvent: (event: PaymentEvent) => events.push(event) };
    await buy(server.url, [wallets.first, wallets.second], options).catch(() => undefined);
    expect(events.map(({ type }) => type)).toEqual(['intended', 'signed', 'sent', 'mined']);
    const blind: Wallet = { ...withoutReads(wallets.first), chainId: 1328 };
    expect(await failureOf(buy(server.url, blind, { assets }))).toMatchObject({ code: 'wrong_chain' });
    const answer = await buy(server.url, [blind, wallets.second], { assets: assets.reverse() });
    expect(answer.status).toBe(200);
    expect([await paidOnFirst(), await paidOnSecond()]).toEqual([0, 1]);
  });
});

describe('a gate with several options', () => {
  const reference = (name: string) => ({ name: 'USDC', version: '2', reference: name });
  /** Its body has the first option, its header both. */
  const ask = async (headers: Record<string, string>) => {
    const server = await open(startPaidServer(chains.first));
    const body = {
      ...{ scheme: 'exact', network: 'chain-testnet', maxAmountRequired: '1000', resource: '/', description: '' },
      ...{ mimeType: '', payTo: chains.first.payTo, maxTimeoutSeconds: 300, asset: chains.first.asset },
      extra: reference('chain-1-a'),
    };
    const challenged: typeof fetch = async (_, init) =>
      new Headers(init?.headers).has('payment-signature')
        ? fetch(server.origin + '/free', { headers: init?.headers ?? {} })
        : new Response(JSON.stringify({ x402Version: 1, accepts: [body] }), { status: 402, headers });
    const options = { assets: both(), maxAmount: '0.001', store };
    return { server, buy: fetchWithPayment(challenged, [wallets.second], options) };
  };
  const header = () => {
    const { payTo, asset } = chains.second;
    const offer = { scheme: 'exact', amount: '1000', payTo, asset, maxTimeoutSeconds: 300 };
    const accepts = [
      { ...offer, network: 'eip155:1328', extra: reference('chain-1-a') },
      { ...offer, network: 'eip155:84532', extra: reference('chain-1-b') },
    ];
    return {
      [PAYMENT_REQUIRED]: encodeJsonHeader({ x402Version: 2, resource: { url: 'https://gate.example/' }, accepts }),
    };
  };

  it('is paid by a signature for the option that only its header has', async () => {
    const { server, buy: ofSecond } = await ask(header());
    expect((await ofSecond('https://gate.example/')).status).toBe(200);
    const signature = String(server.seen[0]?.headers['payment-signature']);
    const shown = JSON.parse(Buffer.from(signature, 'base64').toString()) as object;
    expect(shown).toMatchObject({ accepted: { network: 'eip155:84532', extra: { reference: 'chain-1-b' } } });
  });

  it('explains to a client of version 1, which sees the first option alone, why it cannot pay that', async () => {
    const { buy: ofFirst } = await ask({});
    expect(await failureOf(ofFirst('https://gate.example/'))).toMatchObject({
      code: 'no_trusted_requirement',
      message: `No wallet is on chain 1328, to pay with ${chains.first.asset} on chain-testnet.`,
    });
  });
});

/** A wallet whose chain may not be asked for a payment of another one. */
function withoutReads({ address }: Wallet): Omit<Wallet, 'chainId'> {
  const refuse = (): never => {
    throw new Error('the other chain was asked');
  };
  return { address, inTurn: refuse, sign: refuse, broadcast: refuse, readOutcome: refuse, readNonceUse: refuse };
}
