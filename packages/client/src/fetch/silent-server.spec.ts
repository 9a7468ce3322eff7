import { createPublicClient } from 'viem';

import { startSilentServer, type SilentServer } from '../../../../test/harness/network/silent-server.js';
import { createWallet } from '../account/create-wallet.js';
import { createRpcTransport } from '../network/rpc-client.js';
import { MemoryPaymentStore, type RedeemablePayment } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';
import { redeemPaidRequest } from './redeem-payment.js';

const ADDRESS = '0x1111111111111111111111111111111111111111';

describe('a server that falls silent', () => {
  let server: SilentServer;

  beforeEach(async () => {
    server = await startSilentServer((response, { url }) => {
      if (url !== '/mute') response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    });
  });
  afterEach(() => server.stop());

  const payment = (): RedeemablePayment => ({
    method: 'GET',
    url: `${server.url}/goods`,
    idempotencyKey: 'key-1',
    payer: ADDRESS,
    transaction: { txHash: `0x${'ab'.repeat(32)}` },
    authorization: null,
    requirement: {
      scheme: 'exact',
      network: 'sei-testnet',
      maxAmountRequired: '1000',
      resource: '/goods',
      description: '',
      mimeType: 'application/json',
      payTo: ADDRESS,
      maxTimeoutSeconds: 300,
      asset: ADDRESS,
      extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
    },
  });

  it('is given up when the signal of a paying Request is aborted', async () => {
    const wallet = createWallet({ account: `0x${'1'.repeat(64)}`, rpcUrl: 'http://127.0.0.1:1', chainId: 1328 });
    const payingFetch = fetchWithPayment(fetch, wallet, {
      assets: [{ network: 'sei-testnet', chainId: 1328, address: ADDRESS, decimals: 6 }],
      maxAmount: '0.01',
      store: new MemoryPaymentStore(),
    });
    const stop = new AbortController();
    const reason = new Error('enough');
    const failed = expect(payingFetch(new Request(`${server.url}/mute`, { signal: stop.signal }))).rejects.toBe(reason);
    await server.asked();
    stop.abort(reason);
    await failed;
    await server.closed(0);
  });

  it('does not block the redemption of a payment', async () => {
    const failed = expect(
      redeemPaidRequest(payment(), { attemptTimeoutMs: 4_000, deadlineMs: 4_100 }),
    ).rejects.toMatchObject({ code: 'payment_unredeemed' });
    await server.asked();
    await failed;
    await server.closed(0);
  });

  it('is given up when the signal of a redemption is aborted', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const failed = expect(redeemPaidRequest(payment(), { signal: stop.signal })).rejects.toBe(reason);
    await server.asked();
    stop.abort(reason);
    await failed;
    await server.closed(0);
  });

  it('does not block a read from a chain', async () => {
    const chain = createPublicClient({ transport: createRpcTransport(server.url, { timeout: 4_000, retryCount: 0 }) });
    const failed = expect(chain.getChainId()).rejects.toThrow('took too long');
    await server.asked();
    await failed;
    await server.closed(0);
  });
});
