import { randomBytes } from 'node:crypto';

import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createLaneId, Journal } from '@tollgate/journal';
import { createOwner } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import {
  COMPARE_SETTINGS,
  RequestReplyClient,
  VERIFY_PAYMENT,
  queueOfChain,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type ComparedQuestion,
  type SettingsComparison,
  type SignedPaymentVerdict,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
  type VerifySignedPaymentRequest,
} from '@tollgate/transport';
import { Redis } from 'ioredis';

import { startRpcStandIn, type RpcStandIn } from '../../../libs/chain/test/rpc-stand-in.js';
import { birthKey, BUCKETS } from '../../../libs/ledger/src/keys.js';
import { closeWhileBusy } from '../../../test/harness/network/close-while-busy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../../tools/devnet/chain/sign-authorization.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { withRedis } from '../../../tools/devnet/processes/with-redis.js';
import { settingsOf } from '../test/settings-of.js';
import { startVerifier } from './start-verifier.js';

describe('the verifier', () => {
  let devnet: Devnet;
  let redis: BorrowedRedis;
  let rpc: RpcStandIn;
  let client: RequestReplyClient;
  let verifier: { app: NestFastifyApplication; close(): Promise<unknown> };

  beforeAll(async () => {
    [devnet, redis] = await Promise.all([startChain(), borrowRedis()]);
    rpc = await startRpcStandIn(devnet.rpcUrl);
    client = new RequestReplyClient({ redisUrl: redis.url, queue: queueOfChain(VERIFY_QUEUE, 1328) });
    await client.connect();
    await startLedger();
  });

  afterAll(async () => {
    await client.close();
    await Promise.all([rpc.stop(), devnet.stop(), redis.stop()]);
  });

  beforeEach(async () => {
    rpc.fail(undefined);
    verifier = await start();
  });

  afterEach(() => verifier.close());

  const start = (env: Record<string, string> = {}) =>
    startVerifier({
      RPC_URL: `${rpc.url}/SECRETSECRETSECRETKEY`,
      REDIS_URL: redis.url,
      QUEUE_REDIS_URL: redis.url,
      ASSET_ADDRESS: devnet.asset,
      PAY_TO: devnet.payTo,
      VERIFIER_PORT: '0',
      LOG_LEVEL: 'silent',
      ...env,
    });
  /** A payment from before the ledger's start, by the chain's clock, is refused: each one here is from after it. */
  const startLedger = async () => {
    await (await start()).close();
    await mineAfter(Date.now());
  };
  const mineAfter = (startedAtMs: number) =>
    waitFor('the chain has a block of after the start', async () => {
      await callRpc(devnet.rpcUrl, 'evm_mine');
      const block = (await callRpc(devnet.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
      return Number(block.timestamp) * 1000 > startedAtMs;
    });
  const get = async (path: string) => {
    const response = await fetch(`${await verifier.app.getUrl()}${path}`);
    return { status: response.status, text: await response.text() };
  };
  const createRequest = (txHash: Hex): ComparedQuestion<VerifyPaymentRequest> => ({
    requestId: 'test',
    owner: createOwner(),
    deadlineMs: Date.now() + 30_000,
    network: 'chain-testnet',
    chainId: 1328,
    asset: devnet.asset,
    payTo: devnet.payTo,
    priceBaseUnits: '1000',
    txHash,
    fingerprint: createOwner(),
    retryKey: null,
    leaseMs: 30_000,
    clientAddress: '127.0.0.1',
    settings: settingsOf(devnet),
  });
  const askSigned = (message: unknown) =>
    client.ask<SignedPaymentVerdict>(VERIFY_SIGNED_PAYMENT, message, { timeoutMs: 35_000 });
  const ask = (message: unknown) => client.ask<VerifyPaymentVerdict>(VERIFY_PAYMENT, message, { timeoutMs: 35_000 });

  it('answers questions from the queue, and counts its verdicts', async () => {
    const txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
    const request = createRequest(txHash);
    expect(await ask(request)).toEqual(
      expect.objectContaining({ outcome: 'claimed', lease: expect.objectContaining({ owner: request.owner }) }),
    );
    const cheap = await transferTokens(devnet, { amountBaseUnits: 1n });
    expect(await ask(createRequest(cheap))).toEqual({ outcome: 'refused', failure: 'amount_too_low' });

    const { text } = await get('/metrics');
    expect(text).toMatch(/tollgate_verifications_total\{option="default",outcome="claimed",failure="".*\} 1/);
    expect(text).toMatch(
      /tollgate_verifications_total\{option="default",outcome="refused",failure="amount_too_low".*\} 1/,
    );
    expect(text).toContain(`host="${rpc.host}"`);
    expect(text).toContain('tollgate_verify_queue_length{service="verifier",chain="1328"} 0');
    expect(text).not.toContain('SECRET');
  });

  const createSignedRequest = async (): Promise<ComparedQuestion<VerifySignedPaymentRequest>> => {
    const [asset, payTo] = [devnet.asset.toLowerCase() as Hex, devnet.payTo.toLowerCase() as Hex];
    const terms = { chainId: 1328, asset, assetName: 'USDC', assetVersion: '2', payTo, priceBaseUnits: '1000' };
    return {
      requestId: 'test',
      deadlineMs: Date.now() + 30_000,
      terms,
      payment: await signAuthorization(devnet, devnet.accounts[0]!, { value: '1000' }),
      clientAddress: '127.0.0.1',
      claim: null,
      settings: settingsOf(devnet),
    };
  };

  it('answers questions about signed payments, and counts them by their kind', async () => {
    const request = await createSignedRequest();
    const { terms } = request;
    const payerAddress = devnet.accounts[0]!.address.toLowerCase();
    expect(await askSigned(request)).toEqual({ outcome: 'valid', payer: payerAddress, txHash: null });
    expect(await askSigned({ ...request, terms: { ...terms, priceBaseUnits: '1' } })).toEqual({
      outcome: 'refused',
      failure: 'amount_mismatch',
      payer: payerAddress,
    });
    await expect(askSigned({ ...request, payment: {} })).rejects.toMatchObject({ code: 'handler_failed' });
    const { text } = await get('/metrics');
    expect(text).toMatch(
      /tollgate_verifications_total\{option="default",outcome="valid",failure="",payment="authorization".*\} 1/,
    );
    expect(text).toMatch(/tollgate_verification_seconds_count\{.*option="default",payment="authorization".*\} 2/);
  });

  it('answers a malformed message with an error, and continues', async () => {
    for (const message of [null, 7, [], {}, { txHash: {} }]) {
      await expect(ask(message)).rejects.toMatchObject({ code: 'handler_failed' });
    }
    const txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
    expect(await ask(createRequest(txHash))).toEqual(expect.objectContaining({ outcome: 'claimed' }));
  });

  it('answers settings_differ to a gateway with different payment settings, and stays ready', async () => {
    const request = createRequest(await transferTokens(devnet, { amountBaseUnits: 1000n }));
    const { settings: own, ...incomparable } = request;
    const settings = settingsOf(devnet, { CONFIRMATIONS: '3', PAYMENT_POLICY: 'bound' });
    const differ = { outcome: 'unavailable', reason: 'settings_differ', settings: own };
    expect(await ask({ ...request, settings })).toEqual(differ);
    expect(await ask({ ...request, settings })).toEqual(differ);
    expect(await ask(incomparable)).toEqual(differ);
    const compare = (data: object) => client.ask<SettingsComparison>(COMPARE_SETTINGS, data, { timeoutMs: 35_000 });
    expect(await compare({ settings })).toEqual(differ);
    expect(await compare({ settings: own })).toEqual({ outcome: 'agreed', takesAuthorizations: true });
    expect(await ask(request)).toEqual(expect.objectContaining({ outcome: 'claimed' }));

    const { status, text } = await get('/health/ready');
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      {
        details: {
          settings: {
            differ: [
              [
                { setting: 'PAYMENT_POLICY', gateway: 'bound', verifier: 'transfer' },
                { setting: 'CONFIRMATIONS', gateway: '3', verifier: '1' },
              ],
              expect.arrayContaining([{ setting: 'PAYMENT_POLICY', gateway: null, verifier: 'transfer' }]),
            ],
          },
        },
      },
    ]);
    const metrics = (await get('/metrics')).text;
    expect(metrics).toMatch(/tollgate_verifier_settings_differ_total\{option="default",setting="PAYMENT_POLICY".*\} 4/);
    expect(metrics).toMatch(/tollgate_verifier_settings_differ_total\{option="default",setting="CHAIN_ID".*\} 1/);
  });

  it('is ready, and not ready without the chain', async () => {
    expect(await get('/health/ready')).toMatchObject({ status: 200 });
    await verifier.close();
    rpc.fail({ kind: 'status', status: 500 });
    verifier = await start();
    expect(await get('/health/ready')).toMatchObject({ status: 503 });
    expect(await get('/health/live')).toMatchObject({ status: 200 });
  });

  it('answers the requests under way when it is closed, and waits for no connection after them', async () => {
    const url = await verifier.app.getUrl();
    expect(await closeWhileBusy(url, () => verifier.close())).toContain('HTTP/1.1 404');
  });

  it('waits for the Redis of the queue, alive and not ready', async () => {
    await verifier.close();
    const [port, queuePort] = [await findFreePort(), await findFreePort()];
    const starting = start({ VERIFIER_PORT: String(port), QUEUE_REDIS_URL: `redis://127.0.0.1:${queuePort}` });
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const isWaiting = waitFor('it waits', () => warn.mock.calls.some(([line]) => /waits for the Redis of/.test(line)));
    await Promise.race([starting, isWaiting]);
    const probe = async (path: string) => (await fetch(`http://127.0.0.1:${port}/health/${path}`)).status;
    expect([await probe('live'), await probe('ready')]).toEqual([200, 503]);
    const queue = await startRedis({ port: queuePort });
    verifier = await starting;
    await waitFor('it is ready', async () => (await get('/health/ready')).status === 200);
    await verifier.close();
    await queue.stop();
  });

  it('takes payments of after its start at once when the chain is back, with a new ledger', async () => {
    await verifier.close();
    const fresh = await borrowRedis();
    try {
      rpc.fail({ kind: 'status', status: 500 });
      verifier = await start({ REDIS_URL: fresh.url });
      const startedAtMs = Date.now();
      rpc.fail(undefined);
      await withRedis(fresh.url, (store) =>
        waitFor(
          'the ledger has the head',
          async () => (await store.hget(birthKey(BUCKETS - 1, 1328), 'exact')) === '1',
        ),
      );
      await waitFor('the token has told its decimals', async () => (await get('/health/ready')).status === 200);
      await mineAfter(startedAtMs);
      const txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
      expect(await ask(createRequest(txHash))).toMatchObject({ outcome: 'claimed' });
      await verifier.close();
    } finally {
      await fresh.stop();
    }
  });

  it("takes no EIP-3009 authorization while ASSET_NAME is not the token's, and everything else", async () => {
    await verifier.close();
    const wrong = { ASSET_NAME: 'USD Coin', FACILITATOR_ASSETS: `${devnet.payTo}:no token:1` };
    verifier = await start(wrong);
    const settings = settingsOf(devnet, wrong);
    const compared = await client.ask<SettingsComparison>(COMPARE_SETTINGS, { settings }, { timeoutMs: 35_000 });
    expect(compared).toEqual({ outcome: 'agreed', takesAuthorizations: false });
    const { terms, ...signed } = await createSignedRequest();
    const question = { ...signed, terms: { ...terms, assetName: 'USD Coin' }, settings };
    expect(await askSigned(question)).toMatchObject({ outcome: 'unavailable', reason: 'asset_misnamed' });
    const txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
    expect(await ask({ ...createRequest(txHash), settings })).toMatchObject({ outcome: 'claimed' });
    const { status, text } = await get('/health/ready');
    const { details } = JSON.parse(text) as { details: Record<string, { misnamed: string[] }> };
    expect([status, details['eip3009']?.misnamed]).toEqual([
      200,
      [expect.stringMatching(`^${devnet.asset.toLowerCase()}: .*ASSET_NAME.* "USD Coin" version "2"`)],
    ]);
  });

  it("is not ready with other decimals than the token's, whether or not the chain is up at its start", async () => {
    await verifier.close();
    verifier = await start({ ASSET_DECIMALS: '18' });
    const { status, text: body } = await get('/health/ready');
    const told = `asset_decimals_differ: ASSET_DECIMALS is 18, but the token at ${devnet.asset.toLowerCase()} has 6`;
    expect([status, body]).toEqual([503, expect.stringContaining(told)]);
    await verifier.close();
    rpc.fail({ kind: 'status', status: 500 });
    verifier = await start({ ASSET_DECIMALS: '18' });
    rpc.fail(undefined);
    type Readiness = { details: Record<string, { status: string }> };
    await waitFor('the chain is back, and the decimals alone are wrong', async () => {
      const { details } = JSON.parse((await get('/health/ready')).text) as Readiness;
      return details['chain']?.status === 'up' && details['asset']?.status === 'down';
    });
    await verifier.close();
    // Not a token and without decimals: nothing to compare with.
    verifier = await start({ ASSET_ADDRESS: devnet.accounts[5]!.address, ASSET_DECIMALS: '18' });
  });

  it('takes no question before it knows that it can settle', async () => {
    await verifier.close();
    const { address, privateKey } = devnet.relayers[0]!;
    await withRedis(redis.url, async (store) => {
      const wallets = new Journal({ redis: store });
      await wallets.open();
      await wallets.adopt(createLaneId(devnet.chainId, address), { pendingNonce: 0 });
      const left = ask(createRequest(`0x${randomBytes(32).toString('hex')}`));
      const isWaiting = async () => (await store.llen('tollgate:{verify-1328}:requests')) === 1;
      await waitFor('the question waits', isWaiting);
      await expect(start({ RELAYER_PRIVATE_KEYS: privateKey })).rejects.toThrow('is a wallet of agent jobs');
      expect(await isWaiting()).toBe(true);
      verifier = await start({ RECEIPT_WAIT_MS: '0' });
      expect(await left).toMatchObject({ outcome: 'refused', failure: 'receipt_missing' });
    });
  });

  it('stops while a relayer waits for the Redis of the queue', async () => {
    await verifier.close();
    const queue = await borrowRedis();
    rpc.fail({ kind: 'status', status: 500 });
    const warn = jest.spyOn(Logger.prototype, 'warn');
    verifier = await start({
      RELAYER_PRIVATE_KEYS: devnet.relayers[1]!.privateKey,
      QUEUE_REDIS_URL: queue.url,
      SHUTDOWN_TIMEOUT_MS: '600000',
    });
    await queue.stop();
    rpc.fail(undefined);
    const waits = /waits for the Redis of the queue settle/;
    await waitFor('it waits', () => warn.mock.calls.some(([line]) => waits.test(String(line))));
    await verifier.close();
  });

  it('refuses to start on another chain', async () => {
    await expect(start({ CHAIN_ID: '1' })).rejects.toThrow('on chain 1328, not on 1');
  });

  it('refuses to start on a Redis that may lose payments', async () => {
    const forgetful = await startRedis({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    try {
      await expect(start({ REDIS_URL: forgetful.url })).rejects.toThrow(/REDIS_URL: .*noeviction/);
    } finally {
      await forgetful.stop();
    }
  });

  it('finishes the questions it took when it is stopped, and takes no more', async () => {
    const txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
    rpc.requests.length = 0;
    rpc.fail({ kind: 'delay', ms: 300 });
    const inFlight = ask(createRequest(txHash));
    while (rpc.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await verifier.close();
    expect(await inFlight).toMatchObject({ outcome: 'claimed' });

    const left = ask(createRequest(`0x${randomBytes(32).toString('hex')}`));
    const redisClient = new Redis(redis.url);
    while ((await redisClient.llen('tollgate:{verify-1328}:requests')) === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    redisClient.disconnect();
    // Another replica takes the questions left in the queue.
    rpc.fail(undefined);
    verifier = await start({ RECEIPT_WAIT_MS: '0' });
    expect(await left).toMatchObject({ outcome: 'refused', failure: 'receipt_missing' });
  });
});
