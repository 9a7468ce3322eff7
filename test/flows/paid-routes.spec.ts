import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createWallet, fetchWithPayment } from '@tollgate/client';
import { listRefusals } from '@tollgate/ledger';
import { encodeProof, parseChallenge } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { startUpstream } from './start-upstream.js';

const SECRET = 'k3y-of-the-upstream';

/** Paid routes end to end: real services, chain and Redis, and an upstream that can be made to fail. */
describe('paid routes', () => {
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let stack: Stack;
  let redis: Redis;
  const folder = mkdtempSync(join(tmpdir(), 'paid-routes-'));

  beforeAll(async () => {
    upstream = await startUpstream((_, response) => response.end());
    const file = join(folder, 'routes.yaml');
    writeFileSync(
      file,
      `routes:
  - path: /v1/quotes/:symbol
    price: "0.01"
    upstream: \${UPSTREAM}/internal
    upstreamHeaders: { X-Api-Key: "\${UPSTREAM_KEY}" }
  - { path: /v1/slow/:symbol, price: "0.01", upstream: "\${UPSTREAM}", timeoutMs: 4000 }
  - { path: /v1/orders, methods: [POST], price: "0.02", upstream: "\${UPSTREAM}", timeoutMs: 4000, maxBodyBytes: 100000 }
  - { path: /v1/events/:topic, price: "0.03", upstream: "\${UPSTREAM}", answer: streamed, timeoutMs: 600000 }
  - { path: /gone/quote, price: "0.01", upstream: "\${GONE}" }
`,
    );
    const gone = await startUpstream(() => undefined);
    await gone.stop();
    stack = await startStack({
      env: {
        ROUTES_FILE: file,
        UPSTREAM: upstream.url,
        UPSTREAM_KEY: SECRET,
        GONE: gone.url,
        LEASE_MS: '1000',
      },
    });
    redis = new Redis(stack.redis.url);
  });

  afterAll(async () => {
    redis?.disconnect();
    await stack?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });

  beforeEach(() => {
    upstream.requests.length = 0;
    upstream.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });

  const url = (path: string) => stack.baseUrl + path;

  /** Pays the price of the route, bound to its challenge; returns the request that redeems the payment. */
  async function buy(path: string, init: RequestInit = {}): Promise<(changes?: RequestInit) => Promise<Response>> {
    const unpaid = await fetch(url(path), init);
    expect(unpaid.status).toBe(402);
    const [requirement] = parseChallenge(await unpaid.json()).accepts;
    const { maxAmountRequired, network, extra } = requirement!;
    const { reference } = extra;
    const amountBaseUnits = BigInt(maxAmountRequired);
    const txHash = await transferTokens(stack.chain, { amountBaseUnits, lockReference: reference });
    const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload: { txHash, reference } });
    return (changes) => fetch(url(path), { ...init, ...changes, headers: { ...init.headers, 'X-Payment': proof } });
  }

  const isReleased = (response: Response) => response.headers.get('X-Payment-Released') === 'true';
  const isReplayed = (response: Response) => response.headers.get('Idempotent-Replayed') === 'true';

  it('sell the answer of an upstream, and do not forward the payment to it', async () => {
    const challenge = parseChallenge(await (await fetch(url('/v1/quotes/SEI?full=1'))).json());
    expect(challenge.accepts).toMatchObject([
      { resource: '/v1/quotes/SEI', maxAmountRequired: '10000', description: 'GET /v1/quotes/:symbol' },
    ]);
    const redeem = await buy('/v1/quotes/SEI?full=1', { headers: { cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' } });
    expect(upstream.requests).toEqual([]);

    const paid = await redeem();
    expect([paid.status, await paid.json()]).toEqual([200, { ok: true }]);
    expect(paid.headers.get('cache-control')).toBe('private');
    expect(upstream.requests).toMatchObject([{ method: 'GET', url: '/internal/v1/quotes/SEI?full=1' }]);
    const { headers } = upstream.requests[0]!;
    expect(headers).toMatchObject({ 'x-api-key': SECRET, 'x-forwarded-for': '127.0.0.1' });
    expect(headers['idempotency-key']).toBeTruthy();
    expect(headers).not.toHaveProperty('x-payment');
    expect(headers).not.toHaveProperty('cookie');

    const again = await redeem();
    expect([isReplayed(again), await again.json()]).toEqual([true, { ok: true }]);
    expect(upstream.requests).toHaveLength(1);
    expect(stack.logs()).not.toContain(SECRET);
  });

  it('forward a body, and accept the payment for no other body', async () => {
    upstream.answer = (_, response) => response.writeHead(201).end('done');
    const body = 'x'.repeat(90_000);
    const redeem = await buy('/v1/orders', { method: 'POST', body });
    const paid = await redeem();
    expect([paid.status, await paid.text()]).toEqual([201, 'done']);
    expect(upstream.requests[0]!.body).toBe(body);

    const other = await redeem({ body: 'another order' });
    expect(other.status).toBe(409);
    expect(upstream.requests).toHaveLength(1);
  });

  it('refuse a body that is larger than the route allows', async () => {
    const tooLarge = await fetch(url('/v1/orders'), {
      method: 'POST',
      body: 'x'.repeat(100_001),
      headers: { 'X-Payment': encodeProof(anyProof()) },
    });
    expect(tooLarge.status).toBe(413);
    expect(upstream.requests).toEqual([]);
  });

  it.each([
    ['/v1/quotes/BTC%2Fhistory'],
    ['/v1/quotes/..%2f..%2fadmin'],
    ['/v1/quotes/%2e%2e%2fadmin'],
    ['/v1/quotes/%252e%252e'],
    ['/v1/quotes/..%5cadmin'],
  ])('sell nothing under %s, which an upstream may read as another path', async (path) => {
    const response = await fetch(url(path));
    expect(response.status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });

  it('charge nothing for an error of the upstream, and take the same proof again', async () => {
    upstream.answer = (_, response) => response.writeHead(500, { 'x-payment-released': 'false' }).end('no');
    const redeem = await buy('/v1/quotes/A');
    const failed = await redeem();
    expect([failed.status, isReleased(failed), await failed.text()]).toEqual([500, true, 'no']);
    upstream.answer = (_, response) => response.end('yes');
    const paid = await redeem();
    expect([paid.status, isReleased(paid), await paid.text()]).toEqual([200, false, 'yes']);
    expect(new Set(upstream.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('take the payment of a released request for the one that corrects it, from our own client', async () => {
    upstream.answer = (_, response) => {
      const body = upstream.requests.at(-1)?.body ?? '';
      response.writeHead(body === 'Bern' ? 200 : 400).end(body);
    };
    const { rpcUrl, chainId, asset: address, accounts } = stack.chain;
    const payer = accounts[2]!;
    const wallet = createWallet({ account: payer.privateKey, rpcUrl, chainId });
    const assets = [{ network: 'chain-testnet', chainId, address, decimals: 6 }];
    const pay = fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.02' });
    const before = await readBalance(stack.chain, payer.address);
    const order = (city: string, key: string) =>
      pay(url('/v1/orders'), { method: 'POST', body: city, headers: { 'Idempotency-Key': key } });
    const failed = await order('Brn', 'order-1');
    expect([failed.status, isReleased(failed)]).toEqual([400, true]);
    for (const replayed of [false, true]) {
      const paid = await order('Bern', 'order-2');
      expect([paid.status, isReplayed(paid), await paid.text()]).toEqual([200, replayed, 'Bern']);
    }
    expect(before - (await readBalance(stack.chain, payer.address))).toBe(20_000n);
    expect(upstream.requests.map(({ body }) => body)).toEqual(['Brn', 'Bern']);
  });

  it('charge nothing for an upstream that hangs', async () => {
    upstream.answer = () => undefined;
    const redeem = await buy('/v1/slow/B');
    const late = await redeem();
    expect([late.status, isReleased(late)]).toEqual([504, true]);
    upstream.answer = (_, response) => response.end('yes');
    expect(await (await redeem()).text()).toBe('yes');
  });

  it('charge nothing, however often, for an upstream that is unreachable', async () => {
    const redeem = await buy('/gone/quote');
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const gone = await redeem();
      expect([gone.status, isReleased(gone)]).toEqual([502, true]);
    }
  });

  it('let a payment find its upstream busy fifty times, and list it for a refund then', async () => {
    upstream.answer = (_, response) => response.writeHead(503, { 'retry-after': '0' }).end();
    const entriesOf = () => redis.keys('*:tx:*');
    const before = await entriesOf();
    const redeem = await buy('/v1/quotes/E');
    const untilAsked = async (): Promise<Response> => {
      for (;;) {
        const response = await redeem();
        if (!(await response.clone().text()).includes('upstream_busy')) return response;
        await sleep(100);
      }
    };
    expect((await redeem()).status).toBe(503);
    // As if it had been asked 48 times more, at a second each.
    const [entry = ''] = (await entriesOf()).filter((key) => !before.includes(key));
    const [pauses = ''] = (await redis.hkeys(entry)).filter((field) => field.endsWith(':pauses'));
    expect(await redis.hincrby(entry, pauses, 48)).toBe(49);
    const last = await untilAsked();
    expect([last.status, isReleased(last)]).toEqual([503, true]);
    const refused = await redeem();
    expect([refused.status, refused.headers.get('X-Payment-Failure')]).toEqual([402, 'released_too_often']);
    expect(upstream.requests).toHaveLength(2);
    const [refusal] = await listRefusals(redis, { limit: 1 });
    expect(refusal).toMatchObject({
      failure: 'released_too_often',
      amountBaseUnits: '10000',
      payer: expect.stringMatching(/^0x/) as string,
      redeemed: false,
    });
  });

  it('stream an answer while it is produced, and produce it again for a client that lost it', async () => {
    let finish = (): void => undefined;
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('first');
      finish = () => void response.end('last');
    };
    const redeem = await buy('/v1/events/a');
    const streamed = await redeem();
    const reader = streamed.body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('first');
    finish();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('last');

    upstream.answer = (_, response) => response.end('again');
    const again = await redeem();
    expect([again.status, isReplayed(again), await again.text()]).toEqual([200, true, 'again']);
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.requests[0]!.headers['idempotency-key']).toBe(upstream.requests[1]!.headers['idempotency-key']);
  });

  it('abort the request to an upstream when the client leaves a stream', async () => {
    let ended = (): void => undefined;
    const closed = new Promise<void>((resolve) => (ended = resolve));
    upstream.answer = (_, response) => {
      response.on('close', () => ended());
      response.writeHead(200).write('first');
    };
    const redeem = await buy('/v1/events/d');
    await (await redeem()).body!.cancel();
    await closed;
  });

  function anyProof() {
    const txHash = `0x${'1'.repeat(64)}` as const;
    return { x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload: { txHash } } as const;
  }
});
