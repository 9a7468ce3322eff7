import { request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

import { decodeJsonHeader, encodeJsonHeader, type PaymentRequiredV1, type PaymentRequiredV2 } from '@tollgate/protocol';

import { sendRaw } from '../../../test/harness/network/raw-http.js';
import { retryUntilPaid, waitFor } from '../../../test/harness/retry.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import {
  fail,
  isValid,
  PAYER,
  startFacilitator,
  succeed,
  TRANSACTION,
  type ScriptedFacilitator,
} from '../test/start-facilitator.js';
import { SHOPS, type Goods } from '../test/start-shops.js';
import { PaymentGate } from './gate/gate.js';

describe.each(Object.keys(SHOPS))('a paid route of %s', (name) => {
  let facilitator: ScriptedFacilitator;
  let shop: Shop;
  let goods: Goods;
  let made: number;
  const troubles: string[] = [];

  beforeAll(async () => {
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      facilitator: { url: `${facilitator.url}/`, apiKey: 'tgk_shop', timeoutMs: 30_000 },
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      onTrouble: (error) => troubles.push(error.message),
    });
    shop = await SHOPS[name]!(gate, (request) => {
      made += 1;
      return goods(request);
    });
  });

  afterAll(async () => {
    await shop.stop();
    await facilitator.stop();
  });

  beforeEach(() => {
    made = 0;
    goods = () => ({ body: 'the goods', headers: { 'Content-Type': 'text/plain', 'X-Goods': 'yes' } });
    facilitator.verify = isValid;
    facilitator.settle = succeed;
    facilitator.asked.length = 0;
    troubles.length = 0;
  });

  const get = (headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> =>
    fetch(`${shop.url}/goods?token=secret`, { headers, ...init });
  const asked = () => facilitator.asked.map(({ path }) => path);

  it('responds 402 in both x402 versions', async () => {
    const response = await get();
    expect(response.status).toBe(402);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const resource = `${shop.url}/goods`;
    const common = { scheme: 'exact', asset: ASSET, payTo: PAY_TO, maxTimeoutSeconds: 300 };
    const extra = { name: 'USDC', version: '2' };
    const described = { description: 'Goods', mimeType: 'text/plain' };
    const reference = expect.stringMatching(/^[\w-]{36}$/) as string;
    const v1: PaymentRequiredV1 = {
      x402Version: 1,
      accepts: [{ ...common, ...described, network: 'sei-testnet', maxAmountRequired: '1000', resource, extra }],
    };
    const v2: PaymentRequiredV2 = {
      x402Version: 2,
      resource: { url: resource, ...described },
      accepts: [{ ...common, network: 'eip155:1328', amount: '1000', extra: { ...extra, reference } }],
    };
    expect(await response.json()).toEqual(v1);
    expect(decodeJsonHeader(response.headers.get('payment-required')!, 10_000)).toEqual(v2);
    expect([made, asked()]).toEqual([0, []]);
  });

  it.each([
    ['503', 503, { 'Retry-After': '60' }, 60],
    ['429 without Retry-After', 429, {}, 5],
  ])('leaves a handler alone that answers %s, with the same payment', async (_, status, headers, seconds) => {
    const { pay } = VERSIONS[2];
    const payment = pay();
    goods = () => ({ status, headers, body: 'busy' });
    const busy = await get(payment);
    expect([busy.status, await busy.text(), busy.headers.get('retry-after')]).toEqual([
      status,
      'busy',
      String(seconds),
    ]);
    expect(busy.headers.get('x-payment-released')).toBe('true');
    const told = await get(payment);
    expect([told.status, told.headers.get('x-payment-released'), await told.json()]).toEqual([
      503,
      'true',
      { error: 'resource_busy' },
    ]);
    const left = Number(told.headers.get('retry-after'));
    expect(left > 0 && left <= seconds).toBe(true);
    expect([made, asked()]).toEqual([1, ['/verify']]);
    goods = () => ({ body: 'the goods' });
    expect((await get(pay())).status).toBe(200);
  });

  describe.each([1, 2] as const)('for version %s', (version) => {
    const { pay, answer } = VERSIONS[version];

    it('verifies, runs the handler, settles and responds', async () => {
      const order: string[] = [];
      facilitator.verify = () => (order.push('verify'), isValid());
      goods = () => (order.push('make'), { body: 'the goods', headers: { 'Cache-Control': 'public, max-age=9' } });
      facilitator.settle = (question) => (order.push('settle'), succeed(question));
      const response = await get(pay());
      expect([response.status, await response.text()]).toEqual([200, 'the goods']);
      expect(order).toEqual(['verify', 'make', 'settle']);
      expect(decodeJsonHeader(response.headers.get(answer)!, 10_000)).toMatchObject({ transaction: TRANSACTION });
      expect(response.headers.get('cache-control')).toBe('private, max-age=9');
      expect(response.headers.get('x-shop')).toBe('yes');
      const [verify, settle] = facilitator.asked;
      expect(verify).toMatchObject({ x402Version: version, headers: { authorization: 'Bearer tgk_shop' } });
      expect(settle!.headers['idempotency-key']).toMatch(/^[\w-]{36}$/);
      expect(settle!.paymentPayload).toEqual(verify!.paymentPayload);
    });

    it('does not run the handler for an invalid payment', async () => {
      facilitator.verify = () => ({ isValid: false, invalidReason: 'insufficient_funds', payer: PAYER });
      const response = await get(pay());
      expect(response.status).toBe(402);
      expect(await response.json()).toMatchObject({ error: 'insufficient_funds' });
      expect(decodeJsonHeader(response.headers.get('payment-required')!, 10_000)).toMatchObject({
        error: 'insufficient_funds',
      });
      expect([made, asked()]).toEqual([0, ['/verify']]);
    });

    it('discards the response if the payment cannot be settled', async () => {
      facilitator.settle = fail('insufficient_funds');
      const response = await get(pay());
      expect(response.status).toBe(402);
      expect(response.headers.get('x-goods')).toBeNull();
      expect(response.headers.get('x-shop')).toBe('yes');
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(decodeJsonHeader(response.headers.get(answer)!, 10_000)).toMatchObject({ success: false });
      const body = await response.text();
      expect(JSON.parse(body)).toMatchObject({ error: 'insufficient_funds' });
      expect(body).not.toContain('the goods');
    });

    it('settles nothing if the handler fails', async () => {
      for (const status of [400, 404, 500]) {
        goods = () => ({ status, body: 'no goods' });
        const response = await get(pay());
        expect([response.status, await response.text()]).toEqual([status, 'no goods']);
        expect(response.headers.get('x-payment-released')).toBe('true');
      }
      const broken = new Error('broken');
      goods = () => {
        throw broken;
      };
      const printed = jest.spyOn(console, 'error').mockReturnValue();
      expect((await get(pay())).status).toBe(500);
      // Hono prints what a handler throws.
      expect(printed.mock.calls).toEqual(name === 'hono' ? [[broken]] : []);
      printed.mockRestore();
      expect(asked().filter((path) => path === '/settle')).toEqual([]);
    });

    it('responds 503 to a pending settlement, and a repeat of the payment buys the response under the same key', async () => {
      facilitator.settle = fail('settlement_pending', TRANSACTION);
      const payment = pay();
      const response = await get(payment);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await response.json()).toEqual({ error: 'settlement_pending' });
      facilitator.settle = succeed;
      expect((await get(payment)).status).toBe(200);
      const keys = facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
      // The settlement is known now, so the facilitator is not asked again.
      expect(await (await get(payment)).json()).toMatchObject({ error: 'duplicate_settlement' });
      expect(asked()).toEqual(['/verify', '/settle', '/settle', '/settle']);
    });

    it('treats a repeat after a failed settlement as a new attempt', async () => {
      facilitator.settle = fail('insufficient_funds');
      const payment = pay();
      expect((await get(payment)).status).toBe(402);
      facilitator.settle = succeed;
      expect((await get(payment)).status).toBe(200);
      const keys = facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
      expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
    });

    it("asks once more, under the same key, if the facilitator's response was lost", async () => {
      let settled = 0;
      facilitator.settle = (question) => (settled++ === 0 ? 'hang up' : succeed(question));
      expect((await get(pay())).status).toBe(200);
      const keys = facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
      expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    });
  });

  it('holds back a stream', async () => {
    goods = () => ({ body: Readable.from([Buffer.from('the streamed '), Buffer.from('goods')]) });
    const paid = await get(VERSIONS[1].pay());
    expect([paid.status, await paid.text()]).toEqual([200, 'the streamed goods']);
    facilitator.settle = fail('invalid_transaction_state');
    const refused = await get(VERSIONS[1].pay());
    expect(refused.status).toBe(402);
    expect(await refused.text()).not.toContain('streamed');
  });

  it('serves one request at a time for a payment', async () => {
    const payment = VERSIONS[2].pay();
    const responses = await Promise.all(Array.from({ length: 10 }, () => get(payment)));
    const statuses = responses.map(({ status }) => status);
    expect([made, statuses.filter((status) => status === 200).length]).toEqual([1, 1]);
    expect(statuses.filter((status) => ![200, 402, 409].includes(status))).toEqual([]);
  });

  it('responds 402 to HEAD, even with a payment', async () => {
    const response = await get(VERSIONS[1].pay(), { method: 'HEAD' });
    expect([response.status, asked()]).toEqual([402, []]);
  });

  it('settles nothing if the client has disconnected', async () => {
    const left = new Promise<void>((resolve) => {
      shop.server.once('connection', (socket: Socket) => void socket.once('close', () => resolve()));
    });
    const client = startRequest(`${shop.url}/goods`, { headers: VERSIONS[1].pay(), agent: false });
    client.on('error', () => undefined);
    goods = async () => {
      client.destroy();
      await left;
      return { body: 'the goods' };
    };
    client.end();
    await left;
    goods = () => ({ body: 'the goods' });
    expect((await get(VERSIONS[1].pay())).status).toBe(200);
    expect(asked()).toEqual(['/verify', '/verify', '/settle']);
  });

  // Regression: the payment stayed claimed by the request of a client that had disconnected, and every later request
  // got 409.
  it('accepts a payment again if its client disconnected during verification', async () => {
    const payment = VERSIONS[1].pay();
    const left = new Promise<void>((resolve) => {
      shop.server.once('connection', (socket: Socket) => void socket.once('close', () => resolve()));
    });
    const client = startRequest(`${shop.url}/goods`, { headers: payment, agent: false });
    client.on('error', () => undefined);
    facilitator.verify = async () => {
      client.destroy();
      await left;
      return isValid();
    };
    client.end();
    await left;
    facilitator.verify = isValid;
    // The first request may still be in progress.
    await retryUntilPaid(() => get(payment), [409]);
    expect(asked().filter((path) => path === '/settle')).toHaveLength(1);
  });

  // Regression: behind Hono and Next the payment stayed claimed, and its payer got 409, for as long as the handler ran.
  it.each<[string, (() => Readable) | null]>([
    ['while its handler waits', null],
    ['while its handler streams', () => new Readable({ read: () => undefined })],
  ])('accepts a payment again if its client disconnected %s', async (_when, open) => {
    const stream = open?.() ?? null;
    const payment = VERSIONS[1].pay();
    const left = new Promise<void>((resolve) => {
      shop.server.once('connection', (socket: Socket) => void socket.once('close', () => resolve()));
    });
    const client = startRequest(`${shop.url}/goods`, { headers: payment, agent: false });
    client.on('error', () => undefined);
    let goOn = (): void => undefined;
    const waits = new Promise<void>((resolve) => (goOn = resolve));
    stream?.push('some of the goods');
    goods = async () => (stream === null ? waits.then(() => ({ body: 'too late' })) : { body: stream });
    client.end();
    await waitFor('the handler', () => made === 1);
    client.destroy();
    await left;
    goods = () => ({ body: 'the goods' });
    expect((await retryUntilPaid(() => get(payment), [409])).body).toBe('the goods');
    expect(asked().filter((path) => path === '/settle')).toHaveLength(1);
    if (name === 'hono' || name === 'next')
      await waitFor('the stream to be cancelled', () => stream?.destroyed ?? true);
    stream?.destroy();
    goOn();
  });

  // Prevents: a client that loses its connection during settlement is asked on its next attempt to pay again.
  it('accepts a payment again if its client disconnected during settlement', async () => {
    const payment = VERSIONS[2].pay();
    const left = new Promise<void>((resolve) => {
      shop.server.once('connection', (socket: Socket) => void socket.once('close', () => resolve()));
    });
    const client = startRequest(`${shop.url}/goods?token=secret`, { headers: payment, agent: false });
    client.on('error', () => undefined);
    let settledUnder: string | undefined;
    facilitator.settle = async (question) => {
      const key = question.headers['idempotency-key'] as string;
      settledUnder ??= key;
      if (key !== settledUnder) return fail('duplicate_settlement')(question);
      client.destroy();
      await left;
      return succeed(question);
    };
    client.end();
    await left;
    facilitator.verify = () => ({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' });
    expect((await retryUntilPaid(() => get(payment), [409])).body).toBe('the goods');
    // The response was delivered, so the payment is used now.
    expect((await get(payment)).status).toBe(402);
  });

  if (name === 'express' || name === 'fastify') {
    // Regression: an uncaught error ended Express 4 servers.
    it('responds 402 whatever the Host of the request', async () => {
      const answer = await sendRaw(shop.url, 'GET /goods HTTP/1.1\r\nHost: no host\r\nConnection: close\r\n\r\n');
      expect(answer.statuses).toEqual([402]);
      expect(answer.text).toContain('"resource":"http://localhost/goods"');
    });
  }

  it.each([
    ['no base64', { 'X-Payment': '%' }, 'invalid_payload'],
    ['no JSON', { 'X-Payment': 'bm8=' }, 'invalid_payload'],
    [
      'a hash of a transaction',
      {
        'X-Payment': encodeJsonHeader({
          x402Version: 1,
          scheme: 'exact',
          network: 'n',
          payload: { txHash: TRANSACTION },
        }),
      },
      'invalid_payload',
    ],
    // Prevents: one authorization accompanied by different permits counts as a different payment each time, and is
    // accepted each time.
    ['two payments in one', { 'X-Payment': withPermit(VERSIONS[1].pay()['X-Payment']) }, 'invalid_payload'],
    ['the other version', { 'Payment-Signature': VERSIONS[1].pay()['X-Payment'] }, 'invalid_x402_version'],
    ['an unknown version', { 'X-Payment': encodeJsonHeader({ x402Version: 9 }) }, 'invalid_x402_version'],
  ])('responds 402 to %s', async (_name, headers, error) => {
    const response = await get(headers);
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([402, error]);
    expect(asked()).toEqual([]);
  });

  it.each([
    ['is away', 'hang up', 'The facilitator'],
    ['is overloaded', 429, '429'],
    ['is broken', 500, '500'],
  ] as const)(
    'responds 503 and reports the cause to onTrouble when the facilitator %s',
    async (_name, answer, trouble) => {
      facilitator.verify = () => answer;
      const response = await get(VERSIONS[1].pay());
      expect([response.status, made]).toEqual([503, 0]);
      facilitator.verify = isValid;
      facilitator.settle = () => answer;
      expect((await get(VERSIONS[1].pay())).status).toBe(503);
      expect(troubles).toHaveLength(2);
      for (const message of troubles) expect(message).toContain(trouble);
    },
  );

  // Regression: with a 503, payers kept repeating the request in vain.
  it('responds 500, and that nothing was paid, when the facilitator refuses this server', async () => {
    const payment = VERSIONS[1].pay();
    const expectRefusal = async () => {
      const response = await get(payment);
      expect([response.status, response.headers.get('retry-after')]).toEqual([500, null]);
      expect(response.headers.get('x-payment-released')).toBe('true');
      expect(await response.json()).toMatchObject({ error: 'facilitator_refused' });
    };
    facilitator.verify = () => 401;
    await expectRefusal();
    expect([made, asked()]).toEqual([0, ['/verify']]);
    facilitator.verify = isValid;
    facilitator.settle = () => 403;
    await expectRefusal();
    expect(troubles).toEqual([
      'The facilitator answered 401 at /verify: {"detail":"not for Bearer <apiKey>"} Nothing can be sold until facilitator.apiKey is a key that the facilitator accepts for payTo.',
      'The facilitator answered 403 at /settle: {"detail":"not for Bearer <apiKey>"} Nothing can be sold until facilitator.apiKey is a key that the facilitator accepts for payTo.',
    ]);
    facilitator.settle = succeed;
    expect((await get(payment)).status).toBe(200);
  });

  // Prevents: some facilitators respond 400 to any error, even after they have submitted the payment.
  it('does not state that nothing was paid if the facilitator does not', async () => {
    facilitator.settle = () => 400;
    const response = await get(VERSIONS[2].pay());
    expect([response.status, response.headers.get('x-payment-released')]).toEqual([503, null]);
    expect(await response.json()).toEqual({ error: 'facilitator_refused' });
  });

  // Prevents: a settled payment is reported as still valid, and its record is deleted.
  it('does not state that nothing was paid if the refused payment may already be settled', async () => {
    const payment = VERSIONS[2].pay();
    let settled = 0;
    facilitator.settle = () => (settled++ === 0 ? 'hang up' : 401);
    const response = await get(payment);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(response.headers.get('x-payment-released')).toBeNull();
    expect(await response.json()).toEqual({ error: 'settlement_pending' });
    // The same holds for a repeat: the key under which it may have been settled is kept.
    expect((await get(payment)).status).toBe(503);
    facilitator.settle = succeed;
    expect((await get(payment)).status).toBe(200);
    const keys = facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
    expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
  });
});

/** The payment header with a permit beside the authorization. */
function withPermit(header: string): string {
  const payment = decodeJsonHeader(header, 10_000);
  const permit2Authorization = {
    from: PAYER,
    permitted: { token: ASSET, amount: '1000' },
    spender: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
    nonce: '1',
    deadline: '9999999999',
    witness: { to: PAY_TO, validAfter: '0' },
  };
  return encodeJsonHeader({ ...payment, payload: { ...Object(payment['payload']), permit2Authorization } });
}
