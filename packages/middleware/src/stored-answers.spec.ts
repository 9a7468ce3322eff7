import { randomBytes, randomUUID } from 'node:crypto';

import { decodeJsonHeader } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { retryUntilPaid } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import {
  fail,
  isValid,
  startFacilitator,
  succeed,
  TRANSACTION,
  type ScriptedFacilitator,
} from '../test/start-facilitator.js';
import { SHOPS, type Goods } from '../test/start-shops.js';
import { PaymentGate } from './gate/gate.js';
import { RedisStore } from './redis.js';
import { MemoryStore, type PaymentStore } from './stores/payment-store.js';

const named = (): Record<string, string> => ({ 'Idempotency-Key': randomUUID() });

/** The headers with which a client that lost its response repeats its request. */
const SHOWINGS: Readonly<Record<string, () => Record<string, string>>> = {
  'version 1 with an Idempotency-Key': () => ({ ...VERSIONS[1].pay(), ...named() }),
  'version 2 with the reference of its challenge': () => VERSIONS[2].pay({ reference: randomUUID() }),
  'version 2 with a payment identifier': () => VERSIONS[2].pay({ identifier: randomUUID() }),
};

describe.each(['memory', 'Redis'])('responses stored in %s', (kept) => {
  let redisServer: BorrowedRedis | undefined;
  const connections: Redis[] = [];
  let store: () => PaymentStore;

  beforeAll(async () => {
    const memory = new MemoryStore();
    store = () => memory;
    if (kept === 'memory') return;
    const { url } = (redisServer = await borrowRedis());
    store = () => {
      const redis = new Redis(url);
      connections.push(redis);
      return new RedisStore(redis);
    };
  });

  afterAll(async () => {
    for (const redis of connections) redis.disconnect();
    await redisServer?.stop();
  });

  describe.each(Object.keys(SHOPS))('of %s', (name) => {
    let facilitator: ScriptedFacilitator;
    const shops: Shop[] = [];
    const troubles: string[] = [];
    let goods: Goods;
    let made = 0;

    beforeAll(async () => {
      facilitator = await startFacilitator();
      for (let count = 0; count < 2; count++) {
        const gate = new PaymentGate({
          payTo: PAY_TO,
          asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
          chainId: 1328,
          facilitator: { url: facilitator.url, timeoutMs: 30_000 },
          publicUrl: 'https://shop.example',
          store: store(),
          maxAnswerBytes: 1000,
          onTrouble: ({ message }) => troubles.push(message),
        });
        shops.push(await SHOPS[name]!(gate, (request) => ((made += 1), goods(request))));
      }
    });

    afterAll(async () => {
      for (const shop of shops.splice(0)) await shop.stop();
      await facilitator.stop();
    });

    beforeEach(() => {
      made = 0;
      facilitator.knowsKeys = false;
      goods = () => ({
        status: 201,
        body: `the goods ${made}, für dich`,
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Set-Cookie': 'a=1', 'X-Goods': 'yes' },
      });
      facilitator.verify = isValid;
      facilitator.settle = succeed;
      facilitator.asked.length = 0;
      troubles.length = 0;
    });

    const get = (headers: Record<string, string>, { at = 0, path = '/goods?size=1', method = 'GET', body = '' } = {}) =>
      fetch(`${shops[at]!.url}${path}`, { headers, method, ...(body !== '' && { body }) });
    const asked = () => facilitator.asked.map(({ path }) => path);
    const keys = () => new Set(facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []));

    // Prevents: a shared cache that obeys another header than Cache-Control gives away what was sold.
    it('carry no header by which a shared cache may store them', async () => {
      const headers = { 'CDN-Cache-Control': 'max-age=60', 'surrogate-control': 'max-age=60', 'X-Accel-Expires': '60' };
      goods = () => ({ body: 'the goods', headers });
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      const [unpaid, first, again] = [await get({}), await get(payment), await get(payment, { at: 1 })];
      expect([unpaid.status, first.status, again.status, made]).toEqual([402, 200, 200, 1]);
      // Edge-Control is set before the gate.
      for (const name of [...Object.keys(headers), 'Edge-Control'])
        expect([name, ...[unpaid, first, again].map((one) => one.headers.get(name))]).toEqual([name, null, null, null]);
      for (const one of [first, again]) expect(one.headers.get('cache-control')).toBe('private');
    });

    it.each(Object.keys(SHOWINGS))('are replayed unchanged to %s', async (who) => {
      const payment = SHOWINGS[who]!();
      const first = await get(payment);
      const again = await get(payment, { at: 1 });
      expect([first.status, again.status, made]).toEqual([201, 201, 1]);
      expect(await again.text()).toBe(await first.text());
      for (const header of ['content-type', 'set-cookie', 'x-goods', 'x-shop', 'cache-control', 'content-length']) {
        expect([header, again.headers.get(header)]).toEqual([header, first.headers.get(header)]);
      }
      const version = 'X-Payment' in payment ? 1 : 2;
      const receipt = again.headers.get(VERSIONS[version].answer)!;
      expect(decodeJsonHeader(receipt, 10_000)).toMatchObject({ success: true, transaction: TRANSACTION });
      expect(receipt).toBe(first.headers.get(VERSIONS[version].answer));
      expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
      expect(asked()).toEqual(['/verify', '/settle']);
    });

    // A settled payment is public: anyone can rebuild its header from its transaction.
    it('are not replayed to a client that only knows the payment', async () => {
      for (const [version, paid, stolen] of [
        [1, named(), {}],
        [1, named(), named()],
        [1, {}, {}],
        [1, { 'Idempotency-Key': 'guessable' }, { 'Idempotency-Key': 'guessable' }],
        [2, named(), {}],
        [2, {}, {}],
      ] as const) {
        const payment = VERSIONS[version].pay();
        expect((await get({ ...payment, ...paid })).status).toBe(201);
        const response = await get({ ...payment, ...stolen }, { at: 1 });
        expect([response.status, await response.text()]).toEqual([402, expect.not.stringContaining('the goods')]);
      }
      const nonce = `0x${randomBytes(32).toString('hex')}`;
      expect((await get(VERSIONS[2].pay({ nonce, reference: randomUUID() }))).status).toBe(201);
      for (const reference of [randomUUID(), undefined]) {
        expect((await get(VERSIONS[2].pay({ nonce, ...(reference && { reference }) }))).status).toBe(402);
      }
      expect(made).toBe(7);
    });

    it('are replayed only for the same request', async () => {
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      expect((await get(payment)).status).toBe(201);
      for (const other of [{ path: '/goods?size=2' }, { path: '/goods' }, { method: 'POST' }]) {
        const response = await get(payment, other);
        expect([response.status, await response.json()]).toEqual([409, { error: 'payment_for_another_request' }]);
      }
      expect((await get(payment)).status).toBe(201);
      expect(made).toBe(1);
    });

    it('are replayed only for the same body, if it is known before the handler runs', async () => {
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      goods = async ({ text }) => ({ body: `goods for ${await text()}` });
      const [first, other, again] = [
        await get(payment, { method: 'POST', body: 'apples' }),
        await get(payment, { method: 'POST', body: 'pears' }),
        await get(payment, { method: 'POST', body: 'apples' }),
      ];
      // Fastify reads bodies after its gate.
      expect([first.status, other.status, again.status]).toEqual([200, name === 'fastify' ? 200 : 409, 200]);
      for (const response of [first, again]) expect(await response.text()).toBe('goods for apples');
      expect(made).toBe(1);
    });

    it('that are too large are made again for a GET, five times', async () => {
      goods = () => ({ body: `${made}${'x'.repeat(1000)}` });
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      const receipts = new Set<string | null>();
      for (let time = 1; time <= 6; time++) {
        const response = await get(payment, { at: time % 2 });
        expect([response.status, (await response.text())[0]]).toEqual([200, String(time)]);
        expect(response.headers.get('idempotent-replayed')).toBe(time === 1 ? null : 'true');
        receipts.add(response.headers.get('x-payment-response'));
        // What fails does not count, since the payer has paid.
        if (time !== 3) continue;
        const before = goods;
        goods = () => ((made -= 1), { status: 500, body: 'broken' });
        const failed = await get(payment);
        expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([500, null]);
        expect(failed.headers.get('idempotent-replayed')).toBeNull();
        goods = before;
      }
      const gone = await get(payment);
      expect([gone.status, gone.headers.get('idempotent-replayed')]).toEqual([410, 'true']);
      expect([made, asked(), receipts.size]).toEqual([6, ['/verify', '/settle'], 1]);
      for (const stranger of [{ 'X-Payment': payment['X-Payment']! }, { ...payment, ...named() }])
        expect((await get(stranger)).status).toBe(402);
    });

    it('that are too large are not made again for a POST', async () => {
      goods = () => ({ body: 'x'.repeat(1001) });
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      expect((await get(payment, { method: 'POST' })).status).toBe(200);
      const gone = await get(payment, { method: 'POST' });
      expect([gone.status, gone.headers.get('idempotent-replayed')]).toEqual([410, 'true']);
      expect([made, asked()]).toEqual([1, ['/verify', '/settle']]);
    });

    it('are produced once, however often the payment is presented concurrently', async () => {
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      const send = (at: number) => retryUntilPaid(() => get(payment, { at }), [409], 201);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index % 2)));
      expect([made, new Set(answers.map(({ body }) => body)).size]).toEqual([1, 1]);
      expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
      expect([asked().filter((path) => path === '/settle').length, keys().size]).toEqual([1, 1]);
    });

    it('with an unknown settlement result are settled under one key by every process', async () => {
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      facilitator.settle = () => 'hang up';
      expect((await get(payment)).status).toBe(503);
      facilitator.verify = () => ({ isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' });
      facilitator.settle = succeed;
      const { 'X-Payment': stolen = '' } = payment;
      expect((await get({ 'X-Payment': stolen }, { at: 1 })).status).toBe(402);
      expect((await get(payment, { at: 1, path: '/goods?size=2' })).status).toBe(409);
      expect((await get(payment, { at: 1 })).status).toBe(201);
      expect([asked().slice(-1), keys().size, made]).toEqual([['/settle'], 1, 1]);
    });

    it('are not locked by a client that presents the payment with another key during its settlement', async () => {
      const payment = VERSIONS[1].pay();
      facilitator.settle = fail('settlement_pending', TRANSACTION);
      for (const names of [{}, named()]) expect((await get({ ...payment, ...names }, { at: 1 })).status).toBe(503);
      facilitator.settle = succeed;
      expect([(await get(payment)).status, keys().size]).toEqual([201, 1]);
      expect((await get(payment)).status).toBe(402);
    });

    // A payer can cancel its authorization or use its nonce for another one: the payment is then reported as used, but
    // nothing was paid.
    it('are not sent for a payment that is only reported as used, and no second payment is requested', async () => {
      const payment = SHOWINGS['version 1 with an Idempotency-Key']!();
      let settled = 0;
      const used = fail('invalid_exact_evm_nonce_already_used');
      facilitator.settle = (question) => (settled++ === 0 ? 'hang up' : used(question));
      for (let tries = 0; tries < 2; tries++) {
        const response = await get(payment, { at: tries });
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
        expect(await response.json()).toMatchObject({ error: 'settlement_unknown' });
      }
      expect(made).toBe(1);
      expect(troubles.filter((trouble) => trouble.includes('authorization:0x1111'))).toHaveLength(2);
      // Without an earlier question, another instance may have settled it.
      settled = 1;
      const response = await get(VERSIONS[1].pay());
      expect([response.status, await response.json()]).toEqual([503, { error: 'payment_used' }]);
    });

    // Prevents: the settlement whose response was lost has emptied the payer's account, and the payer is asked to pay
    // again.
    it.each([
      [false, 503],
      [true, 402],
    ])(
      'do not cost a second payment after a refusal that their own settlement may have caused (keys known: %s)',
      async (knows, is) => {
        let settled = 0;
        facilitator.knowsKeys = knows;
        const refused = fail('insufficient_funds');
        facilitator.settle = (question) => (settled++ === 0 ? 'hang up' : refused(question));
        expect((await get(SHOWINGS['version 1 with an Idempotency-Key']!())).status).toBe(is);
        settled = 1;
        expect((await get(VERSIONS[1].pay())).status).toBe(402);
      },
    );
  });
});
