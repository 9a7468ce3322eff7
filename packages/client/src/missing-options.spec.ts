import { createWallet } from './account/create-wallet.js';
import { fetchWithPayment } from './fetch/fetch-with-payment.js';
import { createJobsClient, enqueueAgentJob, verifyWebhook } from './jobs/index.js';
import { payForTools } from './mcp.js';
import { FilePaymentStore } from './store/file-payment-store.js';

/** Invalid values from plain JavaScript, where a variable is unset or is text. */
const none = undefined as never;

describe('a missing option is refused at once, in plain JavaScript too:', () => {
  const account = `0x${'1'.repeat(64)}` as const;
  const wallet = createWallet({ account, rpcUrl: 'http://127.0.0.1:8545', chainId: 1328 });
  const asset = { network: 'chain-testnet', chainId: 1328, address: `0x${'2'.repeat(40)}`, decimals: 6 } as const;
  const options = { assets: [asset], maxAmount: '0.01' };

  it.each([undefined, null, Number.NaN, 0, '1328'])('a wallet refuses the chain id %p', (chainId) => {
    const create = () => createWallet({ account, rpcUrl: 'http://127.0.0.1:8545', chainId: chainId as never });
    expect(create).toThrow(/^chainId is not a whole number above 0\.$/);
  });

  it('a paying client refuses to start without its arguments', () => {
    expect(() => fetchWithPayment(none, none, none)).toThrow(
      /^This client cannot pay: fetch is not a function; wallet has no address; assets is not a list of trusted assets\.$/,
    );
    expect(() => fetchWithPayment(fetch, wallet, { assets: [asset], maxAmount: none })).toThrow(/^Token amount/);
    expect(() => fetchWithPayment(fetch, wallet, { ...options, assets: [{ ...asset, chainId: none }] })).toThrow(
      /^A trusted asset has no chain id\.$/,
    );
  });

  it.each([
    [[], /^This client cannot pay: there is no wallet\.$/],
    [[wallet, wallet], /^This client cannot pay: two wallets are on chain 1328\.$/],
    [[wallet, none], /^This client cannot pay: wallet has no address\.$/],
  ])('a paying client refuses wallets that do not say which one pays: %#', (wallets, message) => {
    expect(() => fetchWithPayment(fetch, wallets, options)).toThrow(message);
  });

  it('a paying client refuses an asset with a limit that is no amount', () => {
    const assets = [{ ...asset, maxAmount: 'much' }];
    expect(() => fetchWithPayment(fetch, wallet, { ...options, assets })).toThrow(/^Token amount/);
  });

  it.each([null, 0, 1, {}])('a paying client refuses the total limit %p', (maxTotal) => {
    expect(() => fetchWithPayment(fetch, wallet, { ...options, maxTotal: maxTotal as never })).toThrow(
      /^This client cannot pay: maxTotal is neither decimal text nor a SpendingLimit\.$/,
    );
  });

  // Regression: without time the client tried nothing, and reported that other callers were in the way.
  it.each([0, -1, Number.NaN, '60'])('a paying client refuses the time %p', (time) => {
    for (const name of ['deadlineMs', 'attemptTimeoutMs']) {
      const create = () => fetchWithPayment(fetch, wallet, { ...options, [name]: time });
      expect(create).toThrow(new RegExp(`^This client cannot pay: ${name} is not a number `));
    }
  });

  // Regression: all servers without a name counted as one, so a payment to one could be sent to another.
  it.each([undefined, ''])('a client that pays for tools refuses the server name %p', (server) => {
    expect(() => payForTools(none, wallet, { ...options, server: server as never })).toThrow(/^server is missing/);
  });

  it.each([undefined, ''])('a file store refuses the directory %p', (directory) => {
    expect(() => new FilePaymentStore(directory as never)).toThrow(/^FilePaymentStore needs a directory\.$/);
  });

  // Regression: undefined became the text `undefined`, which counted as a key.
  it.each([undefined, null, 17])('a jobs client refuses the API key %p', (apiKey) => {
    const create = () => createJobsClient({ baseUrl: 'http://127.0.0.1:4020', apiKey: apiKey as never });
    expect(create).toThrow(/^apiKey is not an API key\./);
    expect(create).toThrow(TypeError);
  });

  it.each([undefined, null, new URL('http://127.0.0.1:4020')])('a jobs client refuses the base URL %p', (baseUrl) => {
    const create = () => createJobsClient({ baseUrl: baseUrl as never, apiKey: 'tgk_1_2' });
    expect(create).toThrow(/^baseUrl is not the text of a URL$/);
  });

  // Regression: every job without an idempotency key had the key `undefined`, and was the same job.
  it.each([
    ['idempotencyKey', /^idempotencyKey must be/],
    ['keyId', /^keyId is missing/],
    ['secret', /^secret is missing/],
  ])('enqueuing a job is refused without %s', async (name, message) => {
    const added: unknown[] = [];
    const queue = { add: (...job: unknown[]) => Promise.resolve(added.push(job)) };
    const job = { operation: 'transfer', wallet: 'main', input: { amount: '1', to: asset.address } } as const;
    const key = { idempotencyKey: 'order-17', keyId: 'k', secret: 's', [name]: undefined };
    await expect(enqueueAgentJob(queue, job, key)).rejects.toThrow(message);
    expect(added).toEqual([]);
  });

  it('verifying a webhook is refused without its secret', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { 'tollgate-timestamp': timestamp, 'tollgate-signature': 'v1=00' };
    for (const secret of [undefined, '']) {
      await expect(verifyWebhook(headers, '{}', secret as never)).rejects.toThrow(
        /^secret is missing or not a string$/,
      );
    }
  });
});
