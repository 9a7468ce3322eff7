import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

import { decodeJsonHeader } from '@tollgate/protocol';

import { waitFor } from '../../../test/harness/retry.js';
import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import { fail, startFacilitator, succeed, TRANSACTION, type ScriptedFacilitator } from '../test/start-facilitator.js';
import { SHOPS, type Goods } from '../test/start-shops.js';
import { PaymentGate } from './gate/gate.js';

const MIB = 1_048_576;
const CHUNK = Buffer.alloc(65_536, 'goods');

describe.each(Object.keys(SHOPS))('a stream that %s sells', (name) => {
  let facilitator: ScriptedFacilitator;
  const shops: Shop[] = [];
  let goods: Goods;
  let made = 0;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    const gate = new PaymentGate({
      payTo: PAY_TO,
      asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
      chainId: 1328,
      facilitator: { url: facilitator.url },
    });
    for (const settle of ['after', 'before'] as const) {
      const offer = { price: '0.001', settle };
      shops.push(await SHOPS[name]!(gate, (request) => ((made += 1), goods(request)), offer));
    }
  });

  afterAll(async () => {
    for (const shop of shops) await shop.stop();
    await facilitator.stop();
  });

  beforeEach(() => {
    made = 0;
    facilitator.settle = succeed;
    facilitator.asked.length = 0;
  });

  const [AFTER, BEFORE] = [0, 1];
  const get = (at: number, headers: Record<string, string> = VERSIONS[2].pay(), signal?: AbortSignal) =>
    fetch(`${shops[at]!.url}/goods`, { headers, ...(signal && { signal }) });
  const settlements = () => facilitator.asked.filter(({ path }) => path === '/settle').length;

  /** Goods as fast as they are taken, far above what is held, but not without an end: a gate that held them all would fail. */
  function sellEndlessly(): { readonly stream: () => Readable; readonly made: () => number } {
    let bytes = 0;
    let stream = Readable.from([]);
    goods = () => {
      const read = (): void => void stream.push(bytes < 64 * MIB ? ((bytes += CHUNK.length), CHUNK) : null);
      stream = new Readable({ read });
      return { body: stream };
    };
    return { stream: () => stream, made: () => bytes };
  }

  it('is settled when more is held than the cap, and then sent as it comes', async () => {
    const endless = sellEndlessly();
    let madeBefore = 0;
    facilitator.settle = (question) => ((madeBefore = endless.made()), succeed(question));
    const client = new AbortController();
    const response = await get(AFTER, VERSIONS[2].pay(), client.signal);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private']);
    expect(decodeJsonHeader(response.headers.get('payment-response')!, 10_000)).toMatchObject({
      transaction: TRANSACTION,
    });
    expect(madeBefore).toBeGreaterThan(MIB);
    expect(madeBefore).toBeLessThan(2 * MIB);
    const reader = response.body!.getReader();
    const received: Uint8Array[] = [];
    for (let bytes = 0; bytes < 8 * MIB; bytes += received.at(-1)!.length) received.push((await reader.read()).value);
    const body = Buffer.concat(received);
    const chunks = Buffer.concat(Array.from({ length: Math.ceil(body.length / CHUNK.length) }, () => CHUNK));
    expect(body.equals(chunks.subarray(0, body.length))).toBe(true);
    client.abort();
    await waitFor('the end of the stream', () => endless.stream().destroyed);
    expect(endless.made()).toBeLessThan(64 * MIB);
  });

  it('arrives whole if it is longer than the cap', async () => {
    goods = () => ({ body: Readable.from(Array.from({ length: 48 }, () => CHUNK)) });
    const response = await get(AFTER);
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 3 * MIB]);
    expect(settlements()).toBe(1);
  });

  it('is sent again to a client that has lost it', async () => {
    sellEndlessly();
    const payment = { ...VERSIONS[2].pay(), 'Idempotency-Key': randomUUID() };
    for (const isReplay of [null, 'true']) {
      const client = new AbortController();
      const response = await get(AFTER, payment, client.signal);
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([200, isReplay]);
      expect((await response.body!.getReader().read()).done).toBe(false);
      client.abort();
    }
    expect([made, settlements()]).toEqual([2, 1]);
  });

  it('is discarded at the cap if it cannot be settled, and its source is told', async () => {
    const endless = sellEndlessly();
    facilitator.settle = fail('insufficient_funds');
    const response = await get(AFTER);
    expect([response.status, await response.json()]).toEqual([
      402,
      expect.objectContaining({ error: 'insufficient_funds' }),
    ]);
    expect(endless.made()).toBeLessThan(2 * MIB);
    await waitFor('the end of the stream', () => endless.stream().destroyed);
  });

  it('that is settled first is sent from its first byte', async () => {
    const order: string[] = [];
    const stream = new Readable({ read: () => undefined });
    facilitator.settle = (question) => (order.push('settle'), succeed(question));
    goods = () => {
      order.push('make');
      stream.push('first ');
      return { body: stream };
    };
    const response = await get(BEFORE);
    expect([response.status, order]).toEqual([200, ['settle', 'make']]);
    expect(response.headers.get('payment-response')).not.toBeNull();
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('first ');
    stream.push('last');
    stream.push(null);
    expect(Buffer.from((await reader.read()).value).toString()).toBe('last');
    expect((await reader.read()).done).toBe(true);
  });

  it('that is settled first and fails is owed to the same request, which pays nothing more', async () => {
    goods = () => ({ status: 500, body: 'broken' });
    const payment = VERSIONS[2].pay();
    const failed = await get(BEFORE, payment);
    expect([failed.status, await failed.text(), failed.headers.get('x-payment-released')]).toEqual([
      500,
      'broken',
      null,
    ]);
    goods = () => ({ body: 'the goods' });
    const response = await get(BEFORE, payment);
    expect([response.status, await response.text()]).toEqual([200, 'the goods']);
    expect(response.headers.get('payment-response')).not.toBeNull();
    expect([made, settlements()]).toEqual([2, 1]);
  });

  it('that cannot be settled first is not made', async () => {
    facilitator.settle = fail('insufficient_funds');
    expect([(await get(BEFORE)).status, made]).toEqual([402, 0]);
  });
});
