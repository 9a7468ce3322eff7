import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { showPayments, transactionEntry } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { startTcpProxy, type TcpProxy } from '../../../../test/harness/network/tcp-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { withRedis } from '../../../../tools/devnet/processes/with-redis.js';
import {
  answerJson,
  createRoute,
  createTxHash,
  pay,
  proofFor,
  send,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../test/start-gateway.js';
import { UpstreamError, type ProducedAnswer, type ResourceRequest } from './route/paid-route.js';

/** Renewed after a third of it; a process that pauses for two thirds of it loses a lease. */
const LEASE_MS = 9000;
/** How long the ledger waits for a reply of Redis. */
const ANSWERED_WITHIN_MS = 3000;

let redis: BorrowedRedis;
let verifier: LedgerVerifier;
let gateway: RunningGateway;
/** A gateway with short deadlines, for verdicts that never come. */
let hasty: RunningGateway;
let made: ResourceRequest[];
let produce: (request: ResourceRequest) => Promise<ProducedAnswer> | ProducedAnswer;

const resource = (request: ResourceRequest): Promise<ProducedAnswer> | ProducedAnswer => {
  made.push(request);
  return produce(request);
};

beforeAll(async () => {
  redis = await borrowRedis();
  verifier = await startLedgerVerifier(redis.url);
  const routes = [
    createRoute(resource),
    createRoute(resource, { path: '/orders', methods: ['POST'], price: '0.000005' }),
    createRoute(resource, { path: '/stream', methods: ['GET', 'POST'], answer: 'streamed' }),
    createRoute(resource, { path: '/lenient', chargeOn: '<500' }),
    createRoute(resource, { path: '/files/*' }),
  ];
  const env = { MAX_STORED_ANSWER_BYTES: '1000', LEASE_MS: String(LEASE_MS), VERIFY_RETRY_MS: '300' };
  gateway = await startGateway(redis.url, routes, env);
  hasty = await startGateway(redis.url, routes, { ...env, VERIFY_DEADLINE_MS: '1000' });
});

afterAll(async () => {
  await Promise.all([gateway.stop(), hasty.stop()]);
  await verifier.stop();
  await redis.stop();
});

beforeEach(() => {
  made = [];
  verifier.questions.length = 0;
  verifier.judgements.clear();
  produce = (request) => answerJson({ sold: request.path, payment: request.verification });
});

/** Repeats a request until the response is not "in progress". */
async function payWhenFree(...request: Parameters<typeof pay>): Promise<Response> {
  let response = await pay(...request);
  await waitFor('a payment that is free', async () => {
    if (response.status !== 409) return true;
    response = await pay(...request);
    return false;
  });
  return response;
}

/** When the lease on the payment of this transaction ends, on Redis's clock. */
async function readLeaseEnd(txHash: Hex): Promise<number> {
  const [payment] = await withRedis(redis.url, (client) => showPayments(client, transactionEntry(1328, txHash)));
  return payment!.untilMs!;
}

/** Has the lease on the payment of this transaction run out. */
async function endLease(txHash: Hex): Promise<void> {
  await withRedis(redis.url, async (client) => {
    const [key = ''] = await client.keys(`*:${transactionEntry(1328, txHash)}`);
    const [slot, record] = Object.entries(await client.hgetall(key)).find(([, value]) => value.startsWith('L,'))!;
    await client.hset(key, slot, record.replace(/\d+(?=,[^,]*$)/, '1'));
  });
}

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  return (await response.json()) as Record<string, unknown>;
}

describe('a paid request', () => {
  it('gets the resource, which knows the verification, and no shared cache may store it', async () => {
    const txHash = `0x${'AB'.repeat(32)}` as const;
    const response = await pay(`${gateway.url}/api/weather?unit=c`, { txHash });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ sold: '/api/weather', payment: { isValid: true, txHash } });
    expect(response.headers.get('cache-control')).toBe('private');
    expect(made[0]).toMatchObject({ method: 'GET', query: 'unit=c', body: null });
    expect(made[0]?.headers).not.toHaveProperty('x-payment');
    expect(verifier.questions[0]).toMatchObject({
      txHash: txHash.toLowerCase(),
      priceBaseUnits: '1000',
      network: 'chain-testnet',
      chainId: 1328,
      retryKey: null,
    });
  });

  it('is refused with 402 if its payment was used', async () => {
    const txHash = createTxHash();
    await pay(`${gateway.url}/api/weather`, { txHash });
    const again = await pay(`${gateway.url}/api/weather`, { txHash });
    expect(again.status).toBe(402);
    expect(await again.json()).toMatchObject({ error: 'Payment already used' });
    expect(again.headers.get('x-payment-failure')).toBe('payment_used');
    expect(again.headers.get('cache-control')).toBe('no-store');
    expect(made).toHaveLength(1);
  });

  it('forwards a body of any type unchanged', async () => {
    const body = Buffer.from([0, 255, 1, 254]);
    await pay(`${gateway.url}/orders`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
    await pay(`${gateway.url}/orders`, { method: 'POST', body: 'text' });
    expect(made.map((request) => request.body)).toEqual([body, Buffer.from('text')]);
  });

  it.each([
    ['receipt_missing', 'Payment verification failed', 1000],
    ['transfer_missing', 'Payment verification failed', undefined],
    ['lock_mismatch', 'Payment verification failed', undefined],
  ] as const)('that is refused for %s gets a new challenge', async (failure, error, retryAfterMs) => {
    const txHash = createTxHash();
    verifier.judgements.set(txHash, () => ({
      outcome: 'refused',
      failure,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }));
    const response = await pay(`${gateway.url}/api/weather`, { txHash });
    expect(response.status).toBe(402);
    expect(response.headers.get('x-payment-failure')).toBe(failure);
    expect(response.headers.get('retry-after')).toBe(retryAfterMs === undefined ? null : '1');
    const challenge = (await response.json()) as { error: string; accepts: unknown[] };
    expect(challenge).toMatchObject({ x402Version: 1, error, accepts: [{ scheme: 'exact' }] });
  });
});

describe('a repeat with the same Idempotency-Key', () => {
  it('gets the stored response without a verifier', async () => {
    const txHash = createTxHash();
    produce = () => ({
      status: 201,
      headers: [
        ['content-type', 'text/plain'],
        ['x-made', 'once'],
        ['cache-control', 'public, no-cache'],
        ['cache-control', 'max-age=0'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['connection', 'keep-alive, x-hop'],
        ['x-hop', 'gone'],
      ],
      body: Buffer.from('made at first'),
    });
    const first = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    const again = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    // On a busy machine the first request may ask twice, with one owner.
    expect(new Set(verifier.questions.map(({ owner }) => owner)).size).toBe(1);
    expect(made).toHaveLength(1);
    for (const response of [first, again]) {
      expect(response.status).toBe(201);
      expect(await response.text()).toBe('made at first');
      expect(response.headers.get('x-made')).toBe('once');
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
      expect(response.headers.get('x-hop')).toBeNull();
      // Prevents: the buyer's own cache replays an old answer.
      expect(response.headers.get('cache-control')).toBe('private, no-cache, max-age=0');
    }
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('but a different request is a conflict', async () => {
    const txHash = createTxHash();
    await pay(`${gateway.url}/api/weather?a=1`, { txHash, key: 'k1' });
    const other = await pay(`${gateway.url}/api/weather?a=2`, { txHash, key: 'k1' });
    expect(other.status).toBe(409);
    expect(await problemOf(other)).toMatchObject({ code: 'payment_for_other_request', status: 409 });
  });

  it('can read it, whatever the first request could read', async () => {
    const txHash = createTxHash();
    const headers: [string, string][] = [['content-encoding', 'gzip']];
    produce = () => ({ status: 200, headers, body: gzipSync('made at first') });
    const sendWith = (accepted: object) =>
      send(gateway.port, {
        path: '/api/weather',
        headers: { 'X-Payment': proofFor(txHash), 'Idempotency-Key': 'k1', ...accepted },
      });
    await sendWith({ 'Accept-Encoding': 'gzip' });
    for (const accepted of [{}, { 'Accept-Encoding': 'br' }]) {
      const { body, headers: seen } = await sendWith(accepted);
      expect([body, seen['content-encoding'], seen.vary]).toEqual(['made at first', undefined, 'Accept-Encoding']);
    }
    expect((await sendWith({ 'Accept-Encoding': 'gzip' })).headers).toMatchObject({ 'content-encoding': 'gzip' });
    expect(made).toHaveLength(1);
  });

  it('gets another response in place of one that decodes to too much, where that is safe', async () => {
    const coded = (): ProducedAnswer => ({
      status: 200,
      headers: [['content-encoding', 'gzip']],
      body: gzipSync(Buffer.alloc(20_001)),
    });
    produce = ({ headers }) => (headers['accept-encoding'] === 'gzip' ? coded() : answerJson('plain'));
    for (const [path, method, status] of [
      ['/api/weather', 'GET', 200],
      ['/orders', 'POST', 410],
    ] as const) {
      const txHash = createTxHash();
      const sendWith = (accepted: string) =>
        pay(gateway.url + path, { method, txHash, key: 'k1', headers: { 'Accept-Encoding': accepted } });
      await sendWith('gzip');
      expect((await sendWith('identity')).status).toBe(status);
    }
  });

  it('for another part of a streamed response is a conflict; a stored one has no parts', async () => {
    for (const [path, status] of [
      ['/stream', 409],
      ['/api/weather', 200],
    ] as const) {
      const txHash = createTxHash();
      const statuses: number[] = [];
      for (const range of ['bytes=0-9', 'bytes=0-9', 'bytes=10-'])
        statuses.push((await pay(gateway.url + path, { txHash, key: 'k1', headers: { Range: range } })).status);
      expect(statuses).toEqual([200, 200, status]);
    }
  });

  it('finds its response however the path is spelled', async () => {
    const txHash = createTxHash();
    await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    const again = await pay(`${gateway.url}/API//%77eather`, { txHash, key: 'k1' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('gets Retry-After while the first request is in progress', async () => {
    const txHash = createTxHash();
    let finish = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      produce = async () => {
        resolve();
        await new Promise<void>((done) => (finish = done));
        return answerJson('done');
      };
    });
    const first = pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    await started;
    const busy = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    expect(busy.status).toBe(409);
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await problemOf(busy)).toMatchObject({ code: 'payment_in_progress' });
    const endsAtMs = await readLeaseEnd(txHash);
    await waitFor('the lease is renewed', async () => (await readLeaseEnd(txHash)) > endsAtMs);
    expect((await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' })).status).toBe(409);
    finish();
    expect((await first).status).toBe(200);
    expect(made).toHaveLength(1);
  });

  it('must have a key of visible characters', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)]) {
      const response = await pay(`${gateway.url}/api/weather`, { key });
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: 'idempotency_key_invalid' });
    }
    expect(verifier.questions).toHaveLength(0);
  });
});

describe('a payment whose resource fails', () => {
  it.each([
    ['an error status', () => answerJson({ why: 'sold out' }, 404), 404],
    ['a refused connection', () => Promise.reject(new UpstreamError('refused', 'ECONNREFUSED')), 502],
    ['a broken answer', () => Promise.reject(new UpstreamError('failed', 'socket hang up')), 502],
    ['a time-out', () => Promise.reject(new UpstreamError('failed', 'slow', { timedOut: true })), 504],
    ['a thrown error', () => Promise.reject(new TypeError('secret detail')), 500],
    ['a body that breaks off', () => ({ status: 200, headers: [], body: brokenStream() }), 500],
    ['a challenge of its own', () => answerJson({ x402Version: 1, accepts: [] }, 402), 502],
  ])('by %s is released and buys the next response', async (_name, fail, status) => {
    const txHash = createTxHash();
    produce = fail;
    const failed = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    expect(failed.status).toBe(status);
    expect(failed.headers.get('x-payment-released')).toBe('true');
    expect(await failed.text()).not.toContain('secret detail');
    produce = () => answerJson('now');
    const again = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    expect([again.status, await again.json()]).toEqual([200, 'now']);
    expect(again.headers.get('x-payment-released')).toBeNull();
    expect(new Set(made.map((request) => request.idempotencyKey)).size).toBe(1);
  });

  // Prevents: the upstream repeats to the corrected request what it answered to the first one.
  it('is released and buys another request, which the upstream sees under another key', async () => {
    const txHash = createTxHash();
    produce = () => answerJson('not like this', 422);
    expect((await pay(`${gateway.url}/api/weather?unit=x`, { txHash, key: 'k1' })).status).toBe(422);
    produce = () => answerJson('now');
    expect((await pay(`${gateway.url}/api/weather?unit=c`, { txHash, key: 'k1' })).status).toBe(200);
    expect(new Set(made.map((request) => request.idempotencyKey)).size).toBe(2);
  });

  it('is released five times, then refused', async () => {
    const txHash = createTxHash();
    produce = () => answerJson('broken', 500);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect((await pay(`${gateway.url}/api/weather`, { txHash })).status).toBe(500);
    }
    const refused = await pay(`${gateway.url}/api/weather`, { txHash });
    expect(refused.status).toBe(402);
    expect(refused.headers.get('x-payment-failure')).toBe('released_too_often');
  });

  it('is paused for a busy resource, which is not asked for it, with a key or without', async () => {
    const txHash = createTxHash();
    produce = () => answerJson('busy', 429);
    expect((await pay(`${gateway.url}/lenient`, { txHash, key: 'k1' })).status).toBe(429);
    for (const key of ['k1', 'k2']) {
      const paused = await pay(`${gateway.url}/lenient`, { txHash, key });
      expect([paused.status, made.length]).toEqual(key === 'k1' ? [503, 1] : [402, 1]);
    }
  });

  it('with a charged status is spent', async () => {
    const txHash = createTxHash();
    produce = () => answerJson('no such thing', 404);
    const charged = await pay(`${gateway.url}/lenient`, { txHash });
    expect([charged.status, charged.headers.get('x-payment-released')]).toEqual([404, null]);
    expect((await pay(`${gateway.url}/lenient`, { txHash })).status).toBe(402);
  });

  it('with an unknown effect stays with its request: 504, then busy, then the same key takes over', async () => {
    const txHash = createTxHash();
    produce = () => Promise.reject(new UpstreamError('unknown', 'timed out'));
    const unknown = await pay(`${gateway.url}/orders`, { method: 'POST', txHash, key: 'k1' });
    expect([unknown.status, unknown.headers.get('x-payment-released')]).toEqual([504, null]);
    expect((await pay(`${gateway.url}/orders`, { method: 'POST', txHash, key: 'k1' })).status).toBe(409);
    await endLease(txHash);
    produce = () => answerJson('taken over');
    const again = await pay(`${gateway.url}/orders`, { method: 'POST', txHash, key: 'k1' });
    expect([again.status, await again.json()]).toEqual([200, 'taken over']);
    expect(new Set(made.map((request) => request.idempotencyKey)).size).toBe(1);
  });
});

describe('a response that is not stored', () => {
  const long = 'x'.repeat(5000);

  it('is committed before its first byte and produced again up to five times for a safe method', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: Readable.from([Buffer.from('part '), Buffer.from('two')]) });
    const bodies: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const response = await pay(`${gateway.url}/stream`, { txHash, key: 'k1' });
      expect(response.headers.get('idempotent-replayed')).toBe(turn === 0 ? null : 'true');
      bodies.push(await response.text());
    }
    expect(bodies).toEqual(Array(6).fill('part two'));
    const gone = await pay(`${gateway.url}/stream`, { txHash, key: 'k1' });
    expect([gone.status, gone.headers.get('idempotent-replayed')]).toEqual([410, 'true']);
    expect(await problemOf(gone)).toMatchObject({ code: 'answer_gone' });
    expect(made).toHaveLength(6);
  });

  // Prevents: an upstream that restarts for some seconds uses up the attempts of a payer that was charged.
  it('is asked for again however often the resource fails', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: Readable.from(['once']) });
    await (await pay(`${gateway.url}/stream`, { txHash, key: 'k1' })).text();
    const failures = [
      () => Promise.reject(new UpstreamError('refused', 'no one listens')),
      () => answerJson({ error: 'starting' }, 504),
      () => answerJson({ error: 'broken' }, 500),
    ];
    for (let turn = 0; turn < 9; turn += 1) {
      produce = failures[turn % failures.length]!;
      const failed = await pay(`${gateway.url}/stream`, { txHash, key: 'k1' });
      expect([failed.status, failed.headers.get('idempotent-replayed')]).toEqual([[502, 504, 500][turn % 3], null]);
      await failed.text();
    }
    produce = () => ({ status: 200, headers: [], body: Readable.from(['again']) });
    const again = await pay(`${gateway.url}/stream`, { txHash, key: 'k1' });
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', 'again']);
  });

  it('is not reported as released if the resource answers 402 the second time', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: Readable.from(['once']) });
    await (await pay(`${gateway.url}/stream`, { txHash, key: 'k1' })).text();
    produce = () => answerJson({}, 402);
    const failed = await pay(`${gateway.url}/stream`, { txHash, key: 'k1' });
    expect([failed.status, failed.headers.get('x-payment-released')]).toEqual([502, null]);
  });

  it('is not produced again for an unsafe method', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: Readable.from(['once']) });
    await pay(`${gateway.url}/stream`, { method: 'POST', txHash, key: 'k1' });
    const gone = await pay(`${gateway.url}/stream`, { method: 'POST', txHash, key: 'k1' });
    expect([gone.status, made.length]).toEqual([410, 1]);
  });

  it.each([
    ['bytes', () => Buffer.from(long)],
    ['a stream', () => Readable.from([Buffer.from(long.slice(0, 3000)), Buffer.from(long.slice(3000))])],
  ])('because it is too large, as %s, is still sent completely', async (_name, body) => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: body() });
    for (let turn = 0; turn < 2; turn += 1) {
      const response = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
      expect([response.status, await response.text()]).toEqual([200, long]);
    }
    expect(made).toHaveLength(2);
  });

  it('and fails before its first byte releases the payment', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: brokenStream('') });
    const failed = await pay(`${gateway.url}/stream`, { txHash });
    expect(failed.headers.get('x-payment-released')).toBe('true');
    produce = () => answerJson('fine');
    expect((await pay(`${gateway.url}/stream`, { txHash })).status).toBe(200);
  });

  it('and breaks off after its first byte closes the connection, and is produced again', async () => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: brokenStream('some') });
    const broken = pay(`${gateway.url}/stream`, { txHash, key: 'k1' }).then((response) => response.text());
    await expect(broken).rejects.toThrow();
    produce = () => answerJson('whole');
    expect(await (await pay(`${gateway.url}/stream`, { txHash, key: 'k1' })).json()).toBe('whole');
  });
});

describe('the length of a response', () => {
  // Prevents: a client of HTTP/1.0, to which the end of the connection is the end of the answer, takes a part for all.
  it('is that of the resource for a stream, which may break off', async () => {
    produce = () => ({ status: 200, headers: [['content-length', '10']], body: brokenStream('some') });
    const client = connect(gateway.port, '127.0.0.1');
    client.write(`GET /stream HTTP/1.0\r\nX-Payment: ${proofFor(createTxHash())}\r\n\r\n`);
    const [head, body] = (await text(client)).split('\r\n\r\n');
    expect(head?.toLowerCase()).toContain('\r\ncontent-length: 10\r\n');
    expect(body).toBe('some');
  });

  it('is that of its bytes if it was read to its end', async () => {
    produce = () => ({ status: 200, headers: [['content-length', '10']], body: Buffer.from('some') });
    const txHash = createTxHash();
    for (let turn = 0; turn < 2; turn++) {
      const response = await pay(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
      expect([response.headers.get('content-length'), await response.text()]).toEqual(['4', 'some']);
    }
  });
});

describe('a response without a Content-Type', () => {
  const headers: [string, string][] = [['access-control-expose-headers', 'X-Own, not a name;, x-payment-failure, *']];
  it.each<[string, string, () => ProducedAnswer['body']]>([
    ['stored', '/api/weather', () => Buffer.from('made')],
    ['empty', '/api/weather', () => Buffer.alloc(0)],
    ['streamed', '/stream', () => Readable.from(['made'])],
  ])('that is %s gets none, and pages can read the headers that it exposes', async (kind, path, body) => {
    produce = () => ({ status: 200, headers, body: body() });
    const txHash = createTxHash();
    for (const isReplay of [null, 'true']) {
      const response = await pay(gateway.url + path, {
        txHash,
        key: 'k1',
        headers: { Origin: 'https://page.example' },
      });
      const seen = response.headers;
      expect([response.status, seen.get('idempotent-replayed')]).toEqual([200, isReplay]);
      expect([seen.get('content-type'), seen.get('x-content-type-options')]).toEqual([null, 'nosniff']);
      expect(seen.get('access-control-expose-headers')).toMatch(/^PAYMENT-REQUIRED, .*, X-Own, x-payment-failure, \*$/);
      expect(await response.text()).toBe(kind === 'empty' ? '' : 'made');
    }
    const elsewhere = await pay(gateway.url + path, { txHash, key: 'k1' });
    expect(elsewhere.headers.get('access-control-expose-headers')).toBeNull();
  });
});

describe('a client that disconnects', () => {
  it('finds its response when it repeats the request', async () => {
    const txHash = createTxHash();
    const controller = new AbortController();
    let finish = (): void => undefined;
    produce = async () => {
      controller.abort();
      await new Promise<void>((done) => (finish = done));
      return answerJson('kept');
    };
    await expect(pay(`${gateway.url}/api/weather`, { txHash, key: 'k1', signal: controller.signal })).rejects.toThrow();
    finish();
    const again = await payWhenFree(`${gateway.url}/api/weather`, { txHash, key: 'k1' });
    expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', 'kept']);
    expect(made).toHaveLength(1);
  });
});

describe('a verdict that does not come', () => {
  it.each([
    ['the chain is out of reach', () => ({ outcome: 'unavailable', reason: 'rpc' }) as const],
    [
      'the receipt was too long to read',
      () => ({ outcome: 'unavailable', reason: 'rpc_response_too_large', retryAfterMs: 29_001 }) as const,
      '30',
    ],
    ['the verifier fails', () => Promise.reject(new Error('bug'))],
    ['the verifier is silent', () => new Promise<never>(() => undefined), '1', () => hasty],
  ])('because %s leads to 503, never 402', async (_name, judgement, retryAfter = '1', by = () => gateway) => {
    const txHash = createTxHash();
    verifier.judgements.set(txHash, judgement);
    const response = await pay(`${by().url}/api/weather`, { txHash });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(await problemOf(response)).toMatchObject({ code: 'verification_unavailable' });
  });

  it.each([
    ['its reply was lost', () => new Promise<never>(() => undefined)],
    ['another one cannot tell', () => ({ outcome: 'unavailable', reason: 'rpc' }) as const],
  ])('releases the payment if the verifier claimed it and %s', async (_, reply) => {
    const txHash = createTxHash();
    verifier.judgements.set(txHash, async (request) => {
      await verifier.claim(request);
      return reply();
    });
    expect((await pay(`${hasty.url}/api/weather`, { txHash })).status).toBe(503);
    verifier.judgements.clear();
    expect((await pay(`${gateway.url}/api/weather`, { txHash })).status).toBe(200);
  });

  it('is requested again with the same owner', async () => {
    const txHash = createTxHash();
    let turn = 0;
    verifier.judgements.set(txHash, (request) => {
      turn += 1;
      return turn === 1 ? new Promise<never>(() => undefined) : verifier.claim(request);
    });
    expect((await pay(`${gateway.url}/api/weather`, { txHash })).status).toBe(200);
    expect(new Set(verifier.questions.map(({ owner }) => owner)).size).toBe(1);
    expect(verifier.questions.length).toBeGreaterThan(1);
  });

  it('does not claim a payment by a repeated question that is handled after the payment was released', async () => {
    const txHash = createTxHash();
    let turn = 0;
    let goOn = (): void => undefined;
    let second: ReturnType<typeof verifier.claim> | undefined;
    const isGivenBack = new Promise<void>((resolve) => (goOn = resolve));
    verifier.judgements.set(txHash, async (request) => {
      turn += 1;
      if (turn === 1) await waitFor('the second time', () => turn > 1);
      else if (turn === 2) return (second = isGivenBack.then(() => verifier.claim(request)));
      return verifier.claim(request);
    });
    produce = () => answerJson('broken', 500);
    expect((await pay(`${gateway.url}/api/weather`, { txHash })).status).toBe(500);
    goOn();
    expect(await second).toMatchObject({ outcome: 'unavailable' });
    verifier.judgements.clear();
    produce = () => answerJson('other');
    expect((await pay(`${gateway.url}/stream`, { txHash })).status).toBe(200);
  });
});

describe('a lease that was taken over', () => {
  it('leaves its first holder without a response', async () => {
    const txHash = createTxHash();
    produce = async () => {
      const asked = verifier.questions.find((question) => question.txHash === txHash);
      await verifier.ledger.releaseOwner({ chainId: 1328, txHash }, asked?.owner ?? '');
      return answerJson('stale');
    };
    const response = await pay(`${gateway.url}/api/weather`, { txHash });
    expect([response.status, await problemOf(response)]).toMatchObject([409, { code: 'payment_in_progress' }]);
  });
});

describe('a commit whose reply is lost', () => {
  let proxy: TcpProxy;
  let remote: RunningGateway;

  beforeAll(async () => {
    proxy = await startTcpProxy(redis.port);
    const routes = [createRoute(resource), createRoute(resource, { path: '/stream', answer: 'streamed' })];
    // Renews every three seconds, while the first commit is waited for.
    const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, LEASE_MS: '9000' };
    remote = await startGateway(redis.url, routes, env);
  });

  afterAll(async () => {
    await remote.stop();
    await proxy.stop();
  });

  // Prevents: the payment is spent, and without an Idempotency-Key its payer cannot get the response by a repeat.
  it.each(['/api/weather', '/stream'])('is repeated until the response of %s can be sent', async (path) => {
    const txHash = createTxHash();
    produce = () => ({ status: 200, headers: [], body: Readable.from(['part ', 'two']) });
    const lost = proxy.holdRepliesTo(txHash.slice(2));
    const paid = pay(`${remote.url}${path}`, { txHash });
    await lost;
    await sleep(ANSWERED_WITHIN_MS + 500);
    proxy.release();
    const response = await paid;
    expect([response.status, await response.text()]).toEqual([200, 'part two']);
    expect(made.map(({ signal }) => signal.aborted)).toEqual([false]);
    expect((await pay(`${remote.url}${path}`, { txHash })).headers.get('x-payment-failure')).toBe('payment_used');
  });
});

describe('a path with parameters', () => {
  it('is forwarded as it was sent, and has one canonical form', async () => {
    await pay(`${gateway.url}/FILES//a%20b/c%3Ad:e/`);
    const sent = { path: '/files/a%20b/c%3Ad:e/', params: { '*': 'a%20b/c%3Ad:e/' } };
    expect(made[0]).toMatchObject({ path: '/files/a%20b/c:d:e', sent });
  });

  // Prevents: the answer to one spelling, which an upstream may tell from another, for a payment that bought the other.
  it.each(['/files/a:b/', '/files/a%3Ab', '/files//a:b'])(
    'paid for as /files/a:b, is another request as %s',
    async (path) => {
      const txHash = createTxHash();
      await pay(`${gateway.url}/files/a:b`, { txHash, key: 'k1' });
      const other = await pay(gateway.url + path, { txHash, key: 'k1' });
      expect(other.status).toBe(path === '/files//a:b' ? 200 : 409);
    },
  );

  it.each([
    '/files/%2e%2e/secret',
    '/files/a%5cb',
    '/files/a/%2E./b',
    '/files/a%00b',
    '/files/group%2Fname',
    '/files/%FF',
  ])('%s is refused before it is priced', async (path) => {
    expect((await send(gateway.port, { path })).status).toBe(400);
  });
});

function brokenStream(start = 'a'): Readable {
  return Readable.from(
    (async function* () {
      if (start !== '') yield Buffer.from(start);
      await sleep(20);
      throw new Error('secret detail');
    })(),
  );
}
