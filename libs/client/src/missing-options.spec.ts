import { fetchWithPayment } from './fetch-with-payment.js';
import { FilePaymentStore } from './file-payment-store.js';
import { createJobsClient, enqueueAgentJob, verifyWebhook } from './jobs/index.js';
import { payForTools } from './mcp.js';
import { createWallet } from './wallet.js';

/** What plain JavaScript gives, where a variable is not set, or is text. */
const none = undefined as never;

describe('what is missing is told at once, from JavaScript too', () => {
  const account = `0x${'1'.repeat(64)}` as const;
  const wallet = createWallet({ account, rpcUrl: 'http://127.0.0.1:8545', chainId: 1328 });
  const asset = { network: 'chain-testnet', chainId: 1328, address: `0x${'2'.repeat(40)}`, decimals: 6 } as const;
  const options = { assets: [asset], maxAmount: '0.01' };

  it.each([undefined, null, Number.NaN, 0, '1328'])('to a wallet: %p is no chain id', (chainId) => {
    const create = () => createWallet({ account, rpcUrl: 'http://127.0.0.1:8545', chainId: chainId as never });
    expect(create).toThrow(/^chainId is no whole number above 0\.$/);
  });

  it('to a paying client', () => {
    expect(() => fetchWithPayment(none, none, none)).toThrow(
      /^This client cannot pay: fetch is no function; wallet has no address; assets is no list of trusted assets\.$/,
    );
    expect(() => fetchWithPayment(fetch, wallet, { assets: [asset], maxAmount: none })).toThrow(/^Token amount/);
    expect(() => fetchWithPayment(fetch, wallet, { ...options, assets: [{ ...asset, chainId: none }] })).toThrow(
      /^A trusted asset has no chain id\.$/,
    );
  });

  it.each([null, 0, 1, {}])('to a paying client: %p is no total limit', (maxTotal) => {
    expect(() => fetchWithPayment(fetch, wallet, { ...options, maxTotal: maxTotal as never })).toThrow(
      /^This client cannot pay: maxTotal is neither decimal text nor a SpendingLimit\.$/,
    );
  });

  // Regression: all servers without a name were one, and payments to one could be shown to another.
  it.each([undefined, ''])('to a client that pays for tools: %p names no server', (server) => {
    expect(() => payForTools(none, wallet, { ...options, server: server as never })).toThrow(/^server is missing/);
  });

  it.each([undefined, ''])('to a store of files: %p is no directory', (directory) => {
    expect(() => new FilePaymentStore(directory as never)).toThrow(/^FilePaymentStore is given no directory\.$/);
  });

  // Regression: undefined became the text `undefined`, which passed for a key.
  it.each([undefined, null, 17])('to a client of jobs: %p is no API key', (apiKey) => {
    const create = () => createJobsClient({ baseUrl: 'http://127.0.0.1:4020', apiKey: apiKey as never });
    expect(create).toThrow(/^apiKey is no API key:/);
    expect(create).toThrow(TypeError);
  });

  it.each([undefined, null, new URL('http://127.0.0.1:4020')])('to a client of jobs: %p is no base URL', (baseUrl) => {
    const create = () => createJobsClient({ baseUrl: baseUrl as never, apiKey: 'tgk_1_2' });
    expect(create).toThrow(/^baseUrl is no text of a URL$/);
  });

  // Regression: every job without an idempotency key had the key `undefined`, and was the same job.
  it.each([
    ['idempotencyKey', /^idempotencyKey must be/],
    ['keyId', /^keyId is missing/],
    ['secret', /^secret is missing/],
  ])('to who enqueues a job without %s', async (name, message) => {
    const added: unknown[] = [];
    const queue = { add: (...job: unknown[]) => Promise.resolve(added.push(job)) };
    const job = { operation: 'transfer', wallet: 'main', input: { amount: '1', to: asset.address } } as const;
    const key = { idempotencyKey: 'order-17', keyId: 'k', secret: 's', [name]: undefined };
    await expect(enqueueAgentJob(queue, job, key)).rejects.toThrow(message);
    expect(added).toEqual([]);
  });

  it('to who verifies a webhook without its secret', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { 'tollgate-timestamp': timestamp, 'tollgate-signature': 'v1=00' };
    for (const secret of [undefined, '']) {
      await expect(verifyWebhook(headers, '{}', secret as never)).rejects.toThrow(/^secret is missing, or no text$/);
    }
  });
});
