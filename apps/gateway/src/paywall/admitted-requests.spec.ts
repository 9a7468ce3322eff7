import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import {
  answerJson,
  createRoute,
  createTxHash,
  proofFor,
  send,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
  type SentAnswer,
} from '../../test/start-gateway.js';
import type { ResourceRequest } from './route/paid-route.js';

const LIMIT = 1000;

let redis: BorrowedRedis;
let verifier: LedgerVerifier;
let gateway: RunningGateway;
let made: ResourceRequest[];

const produce = (request: ResourceRequest) => {
  made.push(request);
  return answerJson('sold');
};

beforeAll(async () => {
  redis = await borrowRedis();
  verifier = await startLedgerVerifier(redis.url);
  const methods = ['GET', 'POST', 'DELETE'];
  const routes = [createRoute(produce, { path: '/orders', methods, maxBodyBytes: LIMIT })];
  const sharing = { path: '/shared', maxBodyBytes: LIMIT };
  routes.push(createRoute(produce, { ...sharing, methods: ['POST', 'PUT'], price: '0.000007' }));
  routes.push(createRoute(produce, { ...sharing, methods: ['DELETE', 'GET'], price: '0.000005' }));
  routes.push(createRoute(produce, { path: '/posted', methods: ['POST', 'PUT'] }));
  gateway = await startGateway(redis.url, routes, { SIGNED_PAYMENTS: 'true' });
});
afterAll(async () => {
  await gateway.stop();
  await verifier.stop();
  await redis.stop();
});
beforeEach(() => {
  made = [];
  verifier.questions.length = 0;
});

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ask = ({ method = 'POST', headers = {}, body = '' }: Sent) =>
  send(gateway.port, { method, path: '/orders', headers: { ...headers }, body });
const payFor = (sent: Sent, txHash = createTxHash(), key?: string) =>
  ask({ ...sent, headers: { ...sent.headers, 'X-Payment': proofFor(txHash), ...(key && { 'Idempotency-Key': key }) } });

const upgradeTo = (protocol: string) => ({ Connection: 'Upgrade, HTTP2-Settings', Upgrade: protocol });

describe('a request that could not be served once it is paid', () => {
  const large = 'x'.repeat(LIMIT + 1);

  it.each<[string, number, string, Sent]>([
    ['a body above the limit', 413, 'body_too_large', { body: large }],
    ['a GET with a body above the limit', 413, 'body_too_large', { method: 'GET', body: large }],
    ['a body of no media type', 415, 'media_type_unsupported', { headers: { 'Content-Type': 'json' }, body: '{}' }],
    ['a body of half a media type', 415, 'media_type_unsupported', { headers: { 'Content-Type': 'a/' }, body: '{}' }],
    ['a WebSocket', 501, 'upgrade_unsupported', { method: 'GET', headers: upgradeTo('websocket') }],
    ['an upgrade to HTTP/2', 501, 'upgrade_unsupported', { body: 'x', headers: upgradeTo('h2c') }],
    ['an upgrade to TLS', 501, 'upgrade_unsupported', { headers: upgradeTo('TLS/1.0, foo/2') }],
    ['an upgrade that Connection does not name', 501, 'upgrade_unsupported', { headers: { Upgrade: 'websocket' } }],
    ['a key with a space', 400, 'idempotency_key_invalid', { headers: { 'Idempotency-Key': 'a b' } }],
    ['a key of 256 characters', 400, 'idempotency_key_invalid', { headers: { 'Idempotency-Key': 'k'.repeat(256) } }],
  ])('by %s gets %d instead of a price', async (_what, status, code, sent) => {
    const headers = { ...sent.headers, ...(sent.body && { 'Content-Length': String(sent.body.length) }) };
    for (const answer of [await ask({ ...sent, headers }), await payFor({ ...sent, headers })]) {
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([status, { code }]);
    }
    expect([verifier.questions, made]).toEqual([[], []]);
  });

  it('by a length that no machine has is answered at once, and nothing is read', async () => {
    const client = connect(gateway.port, '127.0.0.1');
    client.write('POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000000\r\n\r\n');
    const [head] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    expect(head.toString()).toMatch(/^HTTP\/1.1 413 /);
  });

  it('by a body in chunks above the limit is refused while it arrives, and its connection lives on', async () => {
    const client = connect(gateway.port, '127.0.0.1');
    const head = `POST /orders HTTP/1.1\r\nHost: x\r\nX-Payment: ${proofFor(createTxHash())}\r\n`;
    client.write(`${head}Transfer-Encoding: chunked\r\n\r\n800\r\n${'x'.repeat(0x800)}\r\n`);
    const [refused] = (await once(client, 'data')) as [Buffer];
    expect(refused.toString()).toMatch(/^HTTP\/1.1 413 /);
    client.write('0\r\n\r\nGET /orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(client)).toMatch(/^HTTP\/1.1 402 /);
    expect([verifier.questions, made]).toEqual([[], []]);
  });
});

describe('an unpaid request', () => {
  it('is answered from its head, before its body has come', async () => {
    const client = connect(gateway.port, '127.0.0.1');
    client.write('POST /orders HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\n');
    const [head] = (await once(client, 'data')) as [Buffer];
    client.destroy();
    expect(head.toString()).toMatch(/^HTTP\/1.1 402 /);
  });

  it.each<Sent>([
    { method: 'GET', headers: { 'Content-Type': 'application/json' } },
    { method: 'GET', headers: { 'Content-Type': 'json' } },
    { headers: { 'Content-Type': 'json', 'Content-Length': '0' } },
    { headers: { 'Content-Type': 'json' } },
    { body: '{}', headers: { 'Content-Type': ' application/vnd.api+json ; charset="utf-8"' } },
    { body: 'untyped' },
  ])('with %j gets its price, and what it buys', async (sent) => {
    expect((await ask(sent)).status).toBe(402);
    expect((await payFor(sent)).status).toBe(200);
  });
});

describe('a HEAD', () => {
  it.each([
    ['/orders', 'GET'],
    ['/shared', 'GET'],
    ['/posted', 'POST'],
  ])('of %s has the head of the 402 of a %s, and no body, whatever it presents', async (path, method) => {
    const names = ({ headers }: SentAnswer) => Object.keys(headers).sort();
    const priced = await send(gateway.port, { method, path });
    for (const headers of [{}, { 'X-Payment': proofFor(createTxHash()) }]) {
      const head = await send(gateway.port, { method: 'HEAD', path, headers });
      expect([head.status, head.body, names(head)]).toEqual([402, '', names(priced)]);
      expect(head.headers['content-length']).toBe(priced.headers['content-length']);
      const [{ amount, extra }] = readOffer(head);
      expect(amount).toBe(readOffer(priced)[0].amount);
      const bought = { method, path, headers: { 'X-Payment': proofFor(createTxHash(), extra) } };
      expect((await send(gateway.port, bought)).status).toBe(200);
    }
  });
});

function readOffer({ headers }: SentAnswer): [{ amount: string; extra: { reference: string } }] {
  const required = Buffer.from(String(headers['payment-required']), 'base64').toString();
  return (JSON.parse(required) as { accepts: ReturnType<typeof readOffer> }).accepts;
}

describe('a body', () => {
  it.each(['GET', 'POST', 'DELETE'])('of a %s is forwarded, and part of what is bought', async (method) => {
    const [txHash, sent] = [createTxHash(), { method, headers: { 'Content-Length': '7' }, body: '{"q":1}' }];
    expect((await payFor(sent, txHash, 'k')).status).toBe(200);
    expect(made.map(({ body }) => String(body))).toEqual(['{"q":1}']);
    expect((await payFor(sent, txHash, 'k')).headers['idempotent-replayed']).toBe('true');
    expect((await payFor({ ...sent, body: '{"q":2}' }, txHash, 'k')).status).toBe(409);
    expect((await payFor({ method }, txHash, 'k')).status).toBe(409);
  });

  it('that is empty is none, however it is sent', async () => {
    const txHash = createTxHash();
    const empty = { 'Content-Type': 'text/plain', 'Content-Length': '0' };
    expect((await payFor({ headers: empty }, txHash, 'k')).status).toBe(200);
    const chunked = { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' };
    for (const headers of [chunked, {}]) {
      expect((await payFor({ headers }, txHash, 'k')).headers['idempotent-replayed']).toBe('true');
    }
    expect(made.map(({ body }) => body)).toEqual([null]);
  });

  it('that breaks off is asked of no verifier', async () => {
    const client = connect(gateway.port, '127.0.0.1');
    const proof = `X-Payment: ${proofFor(createTxHash())}`;
    client.write(`POST /orders HTTP/1.1\r\nHost: x\r\n${proof}\r\nContent-Length: 900\r\n\r\nhalf`);
    await once(gateway.app.getHttpServer(), 'request');
    client.destroy();
    expect((await payFor({ body: 'whole' })).status).toBe(200);
    expect(verifier.questions).toHaveLength(1);
  });
});
