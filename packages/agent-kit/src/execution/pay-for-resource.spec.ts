import { createWallet, fetchWithPayment, MemoryPaymentStore, type PaymentStore, type Wallet } from '@tollgate/client';
import { nonceOf } from '@tollgate/protocol';

import { listTransfers, startPaidServer, type Interference } from '../../../client/test/paid-server.js';
import { expectFailure, useChain, useOpened, useServer } from '../../../client/test/set-up.js';
import { startSigningShop } from '../../../client/test/signing-shop.js';
import { createContext } from '../../test/create-context.js';
import { payForResource } from '../operations/payment.js';
import type { ExecutionContext } from './execution-context.js';
import { executePayment } from './pay-for-resource.js';

describe('executePayment', () => {
  const chain = useChain();
  const open = useOpened();
  const server = useServer(() => startPaidServer(chain));
  let wallet: Wallet;
  let settings: ExecutionContext['payments'] & { store: PaymentStore };
  let paidBefore: number;

  beforeAll(async () => {
    const account = chain.accounts[0]!.privateKey;
    wallet = createWallet({ account, rpcUrl: chain.rpcUrl, chainId: chain.chainId });
  });
  beforeEach(async () => {
    settings = {
      fetch,
      store: new MemoryPaymentStore(),
      deadlineMs: 60_000,
      attemptTimeoutMs: 30_000,
      priceTimeoutMs: 30_000,
    };
    paidBefore = (await listTransfers(chain, wallet.address)).length;
  });

  const plan = async () => payForResource.plan({ url: server.url }, await createContext(chain));
  const transfers = async () => (await listTransfers(chain, wallet.address)).slice(paidBefore);
  const silence: Interference = () => true;

  it('reports a payment without an answer, and redeems it later without another payment', async () => {
    server.interfere.push(...Array.from({ length: 20 }, () => silence));
    const hasty = { ...settings, deadlineMs: 8_000, attemptTimeoutMs: 2_000 };
    const outcome = await executePayment(await plan(), { ...hasty, wallet });
    const [txHash] = await transfers();
    const [stored] = await settings.store.list();
    expect(outcome).toMatchObject({
      kind: 'unanswered',
      txHash,
      storeKey: stored!.key,
      error: { code: 'PAYMENT_FAILED', details: { paymentError: 'payment_unredeemed' } },
    });
    server.interfere.splice(0);
    const later = await executePayment(await plan(), { ...settings, wallet });
    expect(later).toMatchObject({ kind: 'answered', txHash, status: 200 });
    expect(await transfers()).toEqual([txHash]);
  });

  it('redeems a signature that another client of the same store made, and returns the answer', async () => {
    const shop = await open(startSigningShop(chain, 2));
    const { chainId, asset: address } = chain;
    const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
    shop.interfere = Array.from({ length: 20 }, () => (response) => void response.destroy());
    const { store } = settings;
    const other = fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.001', store, deadlineMs: 500 });
    await expectFailure(other(shop.url), 'payment_unredeemed');
    shop.interfere = [];
    const { payment } = await plan();
    const outcome = await executePayment({ payment: { ...payment!, url: shop.url } }, { ...settings, wallet });
    const nonces = new Set(shop.shown.map((shown) => nonceOf(shown.payment)));
    const [authorization] = nonces;
    expect(outcome).toMatchObject({ kind: 'answered', txHash: null, authorization, body: 'the goods' });
    expect([nonces.size, (await transfers()).length]).toEqual([1, 1]);
  });

  it('limits the time for reading the price again', async () => {
    const agreed = await plan();
    const never: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    await expect(
      executePayment(agreed, { ...settings, priceTimeoutMs: 500, fetch: never, wallet }),
    ).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
    expect(await transfers()).toEqual([]);
  });

  it('shows the beginning of an answer that never ends', async () => {
    // On a busy machine an attempt may take too long, and is repeated.
    const begin: Interference = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: sunny\n\n');
      return true;
    };
    server.interfere.push(...Array<Interference>(10).fill(begin));
    const hasty = { ...settings, attemptTimeoutMs: 4_000 };
    await expect(executePayment(await plan(), { ...hasty, wallet })).resolves.toMatchObject({
      kind: 'answered',
      body: 'data: sunny',
      isBodyCut: true,
    });
    expect((await settings.store.list()).map(({ payment }) => payment.state)).toEqual(['redeemed']);
  });

  it('pays nothing when the chain cannot be reached', async () => {
    const agreed = await plan();
    const account = chain.accounts[0]!.privateKey;
    const lost = createWallet({ account, rpcUrl: 'http://127.0.0.1:1', chainId: chain.chainId });
    await expect(executePayment(agreed, { ...settings, wallet: lost })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      message: expect.not.stringContaining(account.slice(2)),
    });
    expect(server.paid()).toEqual([]);
  });

  it('refuses a plan without a payment', async () => {
    await expectFailure(executePayment({}, { ...settings, wallet }), 'INVALID_INPUT');
  });
});
