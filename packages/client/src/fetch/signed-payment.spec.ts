import type { SignedPayment } from '@tollgate/protocol';

import { approvePermit2 } from '../../../../test/harness/chain/sign-permit.js';
import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../../tools/devnet/chain/read-balance.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { EXACT_PROXY, UPTO_PROXY } from '../../../../tools/devnet/protocols/place-contracts.js';
import {
  assetOf,
  failureOf,
  useChain,
  useMade,
  useServer,
  useTransferCount,
  useWallet,
  withoutSignatures,
} from '../../test/set-up.js';
import { facilitatorOf, identifierIn, startSigningShop } from '../../test/signing-shop.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { abandonPayment, MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

interface Way {
  name: string;
  version: 1 | 2;
  extra?: object;
  scheme?: 'upto';
  /** What is moved of the price. */
  charge: bigint;
  /** What its permit says beside its amount. */
  permit?: (chain: Devnet) => object;
}

const lower = (address: string) => address.toLowerCase();

/** What a signed payment says of itself, whatever its method. */
const facts = (payment: SignedPayment) => {
  if (payment.kind === 'authorization') {
    const { from, to, value, nonce, validBefore } = payment.authorization;
    return { from, to, amount: value, nonce, end: Number(validBefore) };
  }
  if (payment.kind !== 'permit2') throw new Error(`no client signs a ${payment.kind}`);
  const { from, permitted, nonce, deadline, witness } = payment.permit2Authorization;
  return { from, to: witness.to, amount: permitted.amount, nonce, end: Number(deadline) };
};

describe.each<Way>([
  { name: 'authorizations, in version 1', version: 1, charge: 1000n },
  { name: 'authorizations, in version 2', version: 2, charge: 1000n },
  {
    name: 'permits of its price',
    version: 2,
    extra: { assetTransferMethod: 'permit2' },
    charge: 1000n,
    permit: ({ asset }) => ({ permitted: { token: lower(asset) }, spender: lower(EXACT_PROXY) }),
  },
  {
    name: 'permits of a maximum',
    version: 2,
    extra: { assetTransferMethod: 'permit2' },
    scheme: 'upto',
    charge: 400n,
    permit: (chain) => ({ spender: lower(UPTO_PROXY), witness: { facilitator: lower(facilitatorOf(chain)) } }),
  },
])('a server that only takes signed payments: $name', ({ version, extra, scheme, charge, permit }) => {
  const chain = useChain();
  const shop = useServer(() => startSigningShop(chain, version));
  const store = useMade(() => new MemoryPaymentStore());
  const payer = () => chain.accounts[3]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransferCount(chain, () => payer().address);
  const buy = (change: Partial<PaymentOptions> = {}, by = wallet, init: RequestInit = {}) =>
    fetchWithPayment(fetch, by, { assets: [assetOf(chain)], maxAmount: '0.001', store, ...change })(shop.url, init);
  const shown = () => shop.shown.map(({ payment }) => facts(payment));
  const nonces = () => shown().map(({ nonce }) => nonce);
  const offer = () => ({
    ...(scheme && { scheme }),
    extra: { name: 'USDC', version: '2', ...extra, ...(scheme && { facilitatorAddress: facilitatorOf(chain) }) },
  });

  beforeAll(() => approvePermit2(chain, { owner: payer().address }));
  beforeEach(() => {
    shop.offer = offer();
  });

  // Prevents: a payment for a request that takes none.
  it('is not paid for a HEAD, which only asks for the price', async () => {
    const response = await buy({}, wallet, { method: 'HEAD' });
    expect([response.status, shop.shown, await transfers()]).toEqual([402, [], 0]);
  });

  it('is paid once by a signature, and the payer sends no transaction', async () => {
    const sent = () => callRpc(chain.rpcUrl, 'eth_getTransactionCount', [payer().address, 'latest']);
    const before = [await sent(), await readBalance(chain, payer().address)] as const;
    const response = await buy();
    expect([response.status, await response.text()]).toEqual([200, 'the goods']);
    expect([await sent(), await transfers()]).toEqual([before[0], 1]);
    expect(before[1] - (await readBalance(chain, payer().address))).toBe(charge);
    const { from, to, amount, end } = shown()[0]!;
    expect({ from, to, amount }).toEqual({ from: lower(payer().address), to: lower(chain.payTo), amount: '1000' });
    expect(end).toBeLessThanOrEqual(Date.now() / 1000 + 300);
    const { payment } = shop.shown[0]!;
    if (permit) expect(payment).toMatchObject({ scheme: scheme ?? 'exact', permit2Authorization: permit(chain) });
    else expect(payment.kind).toBe('authorization');
    const header = JSON.parse(Buffer.from(shop.shown[0]!.header, 'base64').toString()) as Record<string, unknown>;
    const kept = { accepted: { amount: '1000', ...offer() }, extensions: { kept: { as: 'is' } } };
    expect(header).toMatchObject(version === 1 ? { scheme: 'exact', network: 'sei-testnet' } : kept);
    expect((await store.list()).map(({ payment: { state } }) => state)).toEqual(['redeemed']);
  });

  it('gets the same payment again when its answer was lost', async () => {
    shop.interfere = [
      (response) => void response.destroy(),
      (response) => void response.writeHead(503, { 'Retry-After': '0' }).end(),
    ];
    expect((await buy()).status).toBe(200);
    expect([nonces().length, new Set(nonces()).size, await transfers()]).toEqual([3, 1, 1]);
    const keys = shop.shown.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
  });

  it('gets a payment identifier if it requires one, the same on a repeat', async () => {
    if (version === 1) {
      expect((await buy()).status).toBe(200);
      expect(JSON.parse(Buffer.from(shop.shown[0]!.header, 'base64').toString())).not.toHaveProperty('extensions');
      return;
    }
    const extension = { info: { required: true }, schema: { type: 'object' } };
    shop.extensions = { kept: { as: 'is' }, 'payment-identifier': extension };
    shop.interfere = [(response) => void response.destroy()];
    expect((await buy()).status).toBe(200);
    expect(await transfers()).toBe(1);
    const sent = shop.shown.map(({ extensions }) => extensions);
    const id = identifierIn(sent[0]!);
    const named = { ...extension, info: { required: true, id } };
    expect(sent).toEqual(Array(2).fill({ kept: { as: 'is' }, 'payment-identifier': named }));
  });

  // Prevents: a server that knows the identifier of another payment refuses this one.
  it('gets another identifier with another payment under the same key', async () => {
    if (version === 2) shop.extensions = { 'payment-identifier': { info: { required: true } } };
    const init = { headers: { 'Idempotency-Key': 'order-1' } };
    shop.interfere = [(response) => void response.writeHead(500).end()];
    expect((await buy({}, wallet, init)).status).toBe(500);
    const [{ key } = { key: '' }] = await store.list();
    expect(await abandonPayment(store, key)).toBe(true);
    expect((await buy({}, wallet, init)).status).toBe(200);
    const ids = shop.shown.map(({ extensions }) => identifierIn(extensions));
    expect([ids.length, new Set(ids).size]).toEqual(version === 2 ? [2, 2] : [2, 1]);
  });

  it('gets the same payment from the next call when it refused it, although it was settled', async () => {
    shop.interfere = [
      async (response, payment) => {
        await shop.settle(payment);
        response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}');
      },
      (response) => void response.writeHead(402, { 'X-Payment-Failure': 'payment_used' }).end('{}'),
    ];
    expect(await failureOf(buy())).toMatchObject({ code: 'payment_not_accepted', failure: 'settlement_failed' });
    expect(await failureOf(buy())).toMatchObject({ code: 'payment_not_accepted', txHash: null });
    expect([nonces().length, new Set(nonces()).size, await transfers()]).toEqual([2, 1, 1]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a price above the limit', { amount: '1001', maxAmountRequired: '1001' }, 'over_limit'],
    ['another asset', { asset: `0x${'11'.repeat(20)}` }, 'no_trusted_requirement'],
    ['another chain', { network: version === 1 ? 'base' : 'eip155:8453' }, 'no_trusted_requirement'],
    ['another scheme', { scheme: 'other' }, 'malformed_challenge'],
    ['a token without a domain', { extra: {} }, 'malformed_challenge'],
    [
      'another way of transfer',
      { extra: { name: 'USDC', version: '2', assetTransferMethod: 'other' } },
      'malformed_challenge',
    ],
    ['an invalid recipient address', { payTo: 'me' }, 'malformed_challenge'],
  ])('gets no signature for %s', async (_name, changes, code) => {
    Object.assign(shop.offer, changes);
    expect(await failureOf(buy())).toMatchObject({ code });
    expect([shop.shown, await store.list()]).toEqual([[], []]);
  });

  it('gets nothing from a wallet that cannot sign authorizations', async () => {
    expect(await failureOf(buy({}, withoutSignatures(wallet)))).toMatchObject({
      code: 'cannot_pay',
      message: expect.stringMatching(/^The wallet cannot sign (authorizations|permits), to pay with /),
    });
  });

  it('gets a signature that is valid for at most an hour, whatever it asks for', async () => {
    shop.offer['maxTimeoutSeconds'] = 1_000_000_000;
    await buy();
    expect(shown()[0]?.end).toBeLessThanOrEqual(Date.now() / 1000 + 3600);
  });

  describe('when its signature has expired', () => {
    afterEach(() => jest.restoreAllMocks());

    /**
     * In our time and on the chain: its clock is moved forward for good, and it accepts none of our later signatures.
     */
    const end = async () => {
      const aheadMs = shown()[0]!.end * 1000 - Date.now();
      const now = Date.now.bind(Date);
      jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
      await callRpc(chain.rpcUrl, 'evm_increaseTime', [3600]);
      await callRpc(chain.rpcUrl, 'anvil_mine', ['0x80']);
    };

    it('gets no other one if it was used after all', async () => {
      shop.interfere = [
        async (response, payment) => {
          await shop.settle(payment);
          response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}');
        },
        (response) => void response.end('the goods'),
      ];
      await failureOf(buy());
      await end();
      expect((await buy()).status).toBe(200);
      expect([nonces().length, new Set(nonces()).size, await transfers()]).toEqual([2, 1, 1]);
    });

    it('gets another one if it was not used', async () => {
      shop.interfere = [
        (response) => void response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}'),
        (response) => void response.end('the goods'),
      ];
      await failureOf(buy());
      await end();
      expect((await buy()).status).toBe(200);
      expect([nonces().length, new Set(nonces()).size]).toEqual([2, 2]);
      expect((await store.list()).map(({ payment: { state } }) => state)).toEqual(['redeemed']);
    });

    // Prevents: it is presented for ever, and nothing can be bought there with this wallet again.
    it('is named by a wallet that cannot read whether it was used', async () => {
      shop.interfere = [
        (response) => void response.writeHead(402, { 'X-Payment-Failure': 'settlement_failed' }).end('{}'),
      ];
      await failureOf(buy());
      await end();
      expect(await failureOf(buy({}, withoutSignatures(wallet)))).toMatchObject({
        code: 'payment_pending',
        message: expect.stringContaining(nonces()[0]!),
        hint: expect.stringContaining('tollgate-pay'),
      });
      expect(nonces()).toHaveLength(1);
    });
  });
});
