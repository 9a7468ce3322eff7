import axios from 'axios';

import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { startChargingShop, type ChargingShop } from '../../test/charging-shop.js';
import { listTransfers } from '../../test/paid-server.js';
import { assetOf, failureOf, useChain, useFolder, useServer, useWallet, withoutSignatures } from '../../test/set-up.js';
import type { Wallet } from '../account/wallet.js';
import { payWithAxios } from '../axios.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { FilePaymentStore } from '../store/file-payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

describe('a server that takes payments by MPP alone', () => {
  const chain = useChain();
  const shop = useServer(() => startChargingShop(chain));
  const directory = useFolder();
  let store: FilePaymentStore;
  let paidBefore: number;
  const payer = () => chain.accounts[3]!;
  const wallet = useWallet(chain, payer);
  const transfers = async () => (await listTransfers(chain, payer().address)).length - paidBefore;
  const buy = (change: Partial<PaymentOptions> = {}, by = wallet, init: RequestInit = {}) =>
    fetchWithPayment(fetch, by, { assets: [assetOf(chain)], maxAmount: '0.001', store, ...change })(shop.url, init);
  const countSent = () => callRpc(chain.rpcUrl, 'eth_getTransactionCount', [payer().address, 'latest']);
  const stateOf = async () => (await store.list()).map(({ payment: { state } }) => state);
  const payloads = () => shop.shown.map(({ payload }) => payload);

  beforeEach(async () => {
    store = new FilePaymentStore(directory());
    paidBefore = (await listTransfers(chain, payer().address)).length;
  });

  it('is paid once by a signature for its challenge, and the payer sends no transaction', async () => {
    // Those of other schemes and methods are not its concern.
    shop.otherSchemes = [
      'Bearer realm="Payment id=\\"no\\"", scope="a, b"',
      'Payment id="t", realm="r", method="tempo", intent="charge", request="e30"',
    ];
    shop.challenge = { opaque: 'eyJhIjoiYiJ9', description: 'a "quoted" \\ price' };
    const before = await countSent();
    const response = await buy();
    expect([response.status, await response.text(), await transfers()]).toEqual([200, 'the goods', 1]);
    expect(await countSent()).toBe(before);
    const [{ challenge, payload, source } = shop.shown[0]!] = shop.shown;
    expect(payload).toMatchObject({
      type: 'authorization',
      value: '1000',
      from: payer().address,
      to: chain.payTo.toLowerCase(),
      validBefore: String(Math.floor(Date.parse(challenge['expires']!) / 1000)),
    });
    expect(source).toBe(`did:pkh:eip155:1328:${wallet.address}`);
    expect(await stateOf()).toEqual(['redeemed']);
  });

  it('gets the same credential again when its answer was lost', async () => {
    shop.interfere = [(response) => void response.destroy()];
    expect((await buy()).status).toBe(200);
    const signatures = payloads().map(({ signature }) => signature);
    expect([signatures.length, new Set(signatures).size, await transfers()]).toEqual([2, 1, 1]);
  });

  it('is paid by a transfer where it takes only hashes, or the wallet cannot sign', async () => {
    shop.details = { credentialTypes: ['hash'] };
    expect((await buy()).status).toBe(200);
    // The draft's rule for a server that names no types.
    shop.details = { credentialTypes: undefined };
    expect((await buy()).status).toBe(200);
    shop.details = {};
    expect((await buy({}, withoutSignatures(wallet))).status).toBe(200);
    expect(await transfers()).toBe(3);
    expect(payloads().map(({ type, hash }) => [type, hash])).toEqual(
      (await listTransfers(chain, payer().address)).slice(paidBefore).map((txHash) => ['hash', txHash]),
    );
  });

  it('gets the same transfer from the next call when it failed', async () => {
    shop.details = { credentialTypes: ['hash'] };
    shop.interfere = [(response) => void response.writeHead(500).end()];
    expect([(await buy()).status, (await buy()).status]).toEqual([500, 200]);
    expect([new Set(payloads().map(({ hash }) => hash)).size, payloads().length, await transfers()]).toEqual([1, 2, 1]);
  });

  it.each<[string, (shop: ChargingShop) => void, string]>([
    ['a price above the limit', (it) => (it.request = { amount: '1001' }), 'over_limit'],
    ['another asset', (it) => (it.request = { currency: `0x${'11'.repeat(20)}` }), 'no_trusted_requirement'],
    ['another chain', (it) => (it.details = { chainId: 8453 }), 'no_trusted_requirement'],
  ])('gets no payment for %s', async (_name, change, code) => {
    change(shop);
    expect(await failureOf(buy())).toMatchObject({ code });
    expect([shop.shown, await store.list(), await transfers()]).toEqual([[], [], 0]);
  });

  it.each<[string, (shop: ChargingShop) => void, string]>([
    ['another method', (it) => (it.challenge = { method: 'tempo' }), 'of method "tempo"'],
    ['another intent', (it) => (it.challenge = { intent: 'session' }), 'intent "session"'],
    ['several recipients', (it) => (it.details = { splits: [{ amount: '1', recipient: '0x' }] }), 'several recipients'],
    ['an invalid recipient', (it) => (it.request = { recipient: 'me' }), 'not an address'],
    ['another type of credential', (it) => (it.details = { credentialTypes: ['permit2'] }), 'types permit2'],
    ['a challenge that has expired', (it) => (it.validSeconds = -1), 'ends in'],
    ['a challenge without a time as its end', (it) => (it.challenge = { expires: 'soon' }), 'not a time'],
    ['a header that is not for credentials', (it) => (it.challenge = { header: 'Cookie' }), 'another header'],
    ['a request that is not JSON', (it) => (it.challenge = { request: 'aGk' }), 'not base64url of a JSON'],
  ])('gets no payment for %s, and the error says why', async (_name, change, why) => {
    change(shop);
    expect(await failureOf(buy())).toMatchObject({
      code: 'malformed_challenge',
      details: { problems: [expect.stringContaining(why)] },
    });
    expect([shop.shown, await store.list(), await transfers()]).toEqual([[], [], 0]);
  });

  // Prevents: a transfer that is mined after the end of its challenge buys nothing.
  it('gets no transfer for a challenge that ends before it can be mined', async () => {
    [shop.validSeconds, shop.details] = [20, { credentialTypes: ['hash'] }];
    expect(await failureOf(buy())).toMatchObject({
      code: 'malformed_challenge',
      details: { problems: [expect.stringContaining('ends in')] },
    });
    expect(await transfers()).toBe(0);
  });

  // Prevents: a payment that can never be taken, because a credential takes the place of the caller's own.
  it('leaves the credentials of the caller in `Authorization`', async () => {
    const init = { headers: { Authorization: 'Bearer key' } };
    expect(await failureOf(buy({}, wallet, init))).toMatchObject({ code: 'malformed_challenge' });
    shop.otherSchemes = ['Bearer realm="shop"'];
    const api = axios.create({ auth: { username: 'me', password: 'x' } });
    payWithAxios(api, wallet, { assets: [assetOf(chain)], maxAmount: '0.001', store });
    expect(await failureOf(api.get(shop.url))).toMatchObject({ code: 'malformed_challenge' });
    expect(await transfers()).toBe(0);
    shop.challenge = { header: 'payment-authorization' };
    expect((await buy({}, wallet, init)).status).toBe(200);
    expect((await api.get(shop.url)).status).toBe(200);
    expect(shop.shown.map(({ headers }) => headers.authorization)).toEqual(['Bearer key', 'Basic bWU6eA==']);
  });

  // Prevents: a transfer that is never presented, because axios replaces the credential by those in the URL.
  it('leaves the credentials in a URL of axios', async () => {
    shop.details = { credentialTypes: ['hash'] };
    const api = axios.create();
    payWithAxios(api, wallet, { assets: [assetOf(chain)], maxAmount: '0.001', store, deadlineMs: 900 });
    const url = shop.url.replace('//', '//me:x@');
    expect(await failureOf(api.get(url))).toMatchObject({ code: 'malformed_challenge' });
    expect(await transfers()).toBe(0);
    shop.challenge = { header: 'Payment-Authorization' };
    expect((await api.get(url)).status).toBe(200);
    expect(shop.shown.map(({ headers }) => headers.authorization)).toEqual(['Basic bWU6eA==']);
  });

  // Prevents: the next call loses its own credentials to those of a payment that was made without them.
  it('gets no stored payment in the place of credentials that the next call has in `Authorization`', async () => {
    shop.interfere = [(response) => void response.writeHead(403).end()];
    expect((await buy()).status).toBe(403);
    const init = { headers: { Authorization: 'Bearer key' } };
    expect(await failureOf(buy({}, wallet, init))).toMatchObject({ code: 'payment_unredeemed' });
    expect([shop.shown.length, await stateOf(), await transfers()]).toEqual([1, ['signed'], 0]);
    expect((await buy()).status).toBe(200);
    expect(await transfers()).toBe(1);
  });

  it('gets the next offer in the place of one whose token states no domain', async () => {
    const codeless = { ...assetOf(chain), address: `0x${'11'.repeat(20)}` as const };
    shop.request = { currency: codeless.address };
    shop.details = { credentialTypes: ['authorization'] };
    expect(await failureOf(buy({ assets: [codeless] }))).toMatchObject({
      code: 'cannot_pay',
      details: { asset: codeless.address },
    });
    const terms = { amount: '1000', currency: chain.asset, recipient: chain.payTo };
    const methodDetails = { chainId: chain.chainId, credentialTypes: ['hash'] };
    const request = Buffer.from(JSON.stringify({ ...terms, methodDetails })).toString('base64url');
    shop.otherSchemes = [`Payment id="h", realm="r", method="evm", intent="charge", request="${request}"`];
    shop.interfere = [(response) => void response.end('the goods')];
    expect((await buy({ assets: [codeless, assetOf(chain)] })).status).toBe(200);
    expect(shop.shown).toMatchObject([{ challenge: { id: 'h' }, payload: { type: 'hash' } }]);
  });

  // Published servers derive the id from the price and the millisecond.
  // Prevents: two payments for one challenge, of which the server takes one, and the other is stuck or lost.
  it.each(['authorization', 'hash'])('gets one payment by %s for a challenge that it gives twice', async (type) => {
    let asked = 0;
    shop.challenge = { expires: new Date(Date.now() + 300_000).toISOString() };
    const repeated = { configurable: true, enumerable: true, get: () => `${type}-${Math.ceil((asked += 1) / 2)}` };
    Object.defineProperty(shop.challenge, 'id', repeated);
    shop.details = { credentialTypes: [type] };
    const keys = ['a', 'b'].map((key) => ({ headers: { 'Idempotency-Key': `${type}-${key}` } }));
    const responses = await Promise.all(keys.map((init) => buy({}, wallet, init)));
    expect([responses.map(({ status }) => status), await transfers()]).toEqual([[200, 200], 2]);
    Object.defineProperty(shop.challenge, 'id', { enumerable: true, value: `${type}-1` });
    expect(await failureOf(buy())).toMatchObject({ code: 'cannot_pay' });
    expect(await transfers()).toBe(2);
  });

  it.each(['authorization', 'hash'])('gets a released payment by %s for the corrected request', async (type) => {
    shop.details = { credentialTypes: [type] };
    shop.interfere = [(response) => void response.writeHead(400, { 'X-Payment-Released': 'true' }).end('a typo')];
    const post = (body: string) => buy({}, wallet, { method: 'POST', body });
    expect([(await post('Brn')).status, (await post('Bern')).status]).toEqual([400, 200]);
    const proofs = shop.shown.map(({ challenge, payload }) => [challenge, payload['hash'] ?? payload['signature']]);
    expect([proofs[1], await transfers()]).toEqual([proofs[0], 1]);
    expect((await stateOf()).sort()).toEqual(['moved', 'moved', 'redeemed']);
  });

  it('gives its own reason in the error, and gets the same credential from the next call', async () => {
    shop.interfere = [(response) => shop.refuse(response, 'the stock is empty')];
    expect(await failureOf(buy({ deadlineMs: 900 }))).toMatchObject({
      code: 'payment_not_accepted',
      message: expect.stringContaining('the stock is empty'),
      details: { challengeError: 'the stock is empty' },
    });
    expect((await buy()).status).toBe(200);
    expect([new Set(payloads().map(({ nonce }) => nonce)).size, await transfers()]).toEqual([1, 1]);
  });

  describe('when time passes', () => {
    afterEach(() => jest.restoreAllMocks());

    const pass = (ms: number) => {
      const now = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
    };

    // Prevents: a signature that the server no longer accepts, since the wallet's prompt was open too long.
    it('gets no signature that came later than its challenge is valid, but another one', async () => {
      const { authorizations } = wallet;
      let signed = 0;
      const slow: Wallet = {
        ...withoutSignatures(wallet),
        authorizations: {
          ...authorizations!,
          sign: async (...terms) => {
            signed += 1;
            if (signed === 1) pass(shop.validSeconds * 1000);
            return authorizations!.sign(...terms);
          },
        },
      };
      shop.interfere = [(response) => void response.end('the goods')];
      expect((await buy({}, slow)).status).toBe(200);
      expect([signed, shop.shown.length]).toEqual([2, 1]);
    });

    // Prevents: money for a transfer that is mined after the end of its challenge.
    it('gets no transfer that was signed just before the end of its challenge, but another one', async () => {
      shop.details = { credentialTypes: ['hash'] };
      const signed: string[] = [];
      const slow: Wallet = {
        ...withoutSignatures(wallet),
        sign: async (call) => {
          const transaction = await wallet.sign(call);
          if (signed.push(transaction.txHash) === 1) pass((shop.validSeconds - 10) * 1000);
          return transaction;
        },
      };
      shop.interfere = [(response) => void response.end('the goods')];
      expect((await buy({}, slow)).status).toBe(200);
      expect([signed.length, payloads(), await transfers()]).toEqual([2, [{ type: 'hash', hash: signed[1] }], 1]);
    });

    /** In our time alone, and then on the chain too, whose clock is moved forward for good. */
    const end = () => {
      const aheadMs = Number(payloads()[0]?.['validBefore']) * 1000 - Date.now();
      pass(aheadMs);
    };
    const mine = async () => {
      await callRpc(chain.rpcUrl, 'evm_increaseTime', [3600]);
      await callRpc(chain.rpcUrl, 'anvil_mine', ['0x80']);
    };

    // Prevents: the fresh challenge in a refusal is paid too, while the first signature can still move money.
    it('gets a second one only when the chain shows that the first can move nothing', async () => {
      shop.interfere = [
        (response) => void response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}'),
        (response) => void response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}'),
        (response) => void response.end('the goods'),
      ];
      await failureOf(buy());
      end();
      expect(await failureOf(buy())).toMatchObject({ code: 'payment_not_accepted' });
      expect(new Set(payloads().map(({ nonce }) => nonce)).size).toBe(1);
      await mine();
      expect((await buy()).status).toBe(200);
      expect(payloads().map(({ nonce }) => nonce === payloads()[0]?.['nonce'])).toEqual([true, true, false]);
      expect(await stateOf()).toEqual(['redeemed']);
    });
  });
});
