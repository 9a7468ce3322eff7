import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { MAX_PROOF_HEADER_BYTES, parseChallenge } from '@tollgate/protocol';

import { waitFor } from '../../../test/harness/retry.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import {
  answerJson,
  ASSET,
  createRoute,
  createTxHash,
  pay,
  PAY_TO,
  proofFor,
  send,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../test/start-gateway.js';
import { isLoopback } from './server/admission.js';
import { Cors } from './server/cors.js';

let redis: RedisServer;
let verifier: LedgerVerifier;
let gateway: RunningGateway;
const routes = [
  createRoute(() => answerJson('sold')),
  createRoute(({ sent }) => answerJson(sent.params), { path: '/v1/quotes/:symbol', methods: ['GET', 'POST'] }),
];

beforeAll(async () => {
  redis = await startRedis();
  verifier = await startLedgerVerifier(redis.url);
  gateway = await startGateway(redis.url, routes, { MAX_REQUEST_BODY_BYTES: '100' });
});

afterAll(async () => {
  await gateway.stop();
  await verifier.stop();
  await redis.stop();
});

describe('the challenge', () => {
  it('has every field of the specification and no error', async () => {
    const response = await fetch(`${gateway.url}/api/weather`);
    expect(response.status).toBe(402);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = await response.json();
    expect(body).toEqual({
      x402Version: 1,
      accepts: [
        {
          scheme: 'exact',
          network: 'chain-testnet',
          maxAmountRequired: '1000',
          resource: '/api/weather',
          description: 'The weather',
          mimeType: 'application/json',
          payTo: PAY_TO,
          maxTimeoutSeconds: 300,
          asset: ASSET,
          extra: { name: 'USDC', version: '2', reference: expect.stringMatching(/^chain-\d{13}-[0-9a-z]+$/) },
        },
      ],
    });
    const reference = parseChallenge(body).accepts[0]!.extra.reference;
    expect(Math.abs(Number(reference.split('-')[1]) - Date.now())).toBeLessThan(60_000);
  });

  it('is fresh each time', async () => {
    const references = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const challenge = parseChallenge(await (await fetch(`${gateway.url}/api/weather`)).json());
        return challenge.accepts[0]!.extra.reference;
      }),
    );
    expect(new Set(references).size).toBe(50);
  });

  it.each([
    '/api/weather/',
    '//api/weather',
    '/api//weather//',
    '/API/Weather',
    '/api/%77eather',
    '/%61pi/weather',
    '/api/weather?x=1',
    '/api/weather/?X-Payment=1',
    '/api/weather#fragment',
    'http://elsewhere.example/api/weather',
  ])('is the same for %s', async (path) => {
    const { status, body } = await send(gateway.port, { path });
    expect(status).toBe(402);
    expect(parseChallenge(JSON.parse(body)).accepts[0]?.resource).toBe('/api/weather');
  });

  it('names the requested path if the route has parameters', async () => {
    const { body } = await send(gateway.port, { path: '/V1/quotes/BTC%20USD' });
    expect(parseChallenge(JSON.parse(body)).accepts[0]?.resource).toBe('/v1/quotes/BTC%20USD');
  });
});

describe('a malformed payment', () => {
  const valid = { x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload: { txHash: createTxHash() } };
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

  it.each([
    ['empty', '', 'malformed_proof'],
    ['not base64', '%%%', 'malformed_proof'],
    ['not JSON', Buffer.from('{').toString('base64'), 'malformed_proof'],
    ['not an object', encode([1]), 'malformed_proof'],
    ['without a hash', encode({ ...valid, payload: {} }), 'malformed_proof'],
    ['with a malformed hash', encode({ ...valid, payload: { txHash: '0x12' } }), 'malformed_proof'],
    ['of another version', encode({ ...valid, x402Version: 2 }), 'wrong_version'],
    ['of another scheme', encode({ ...valid, scheme: 'upto' }), 'wrong_scheme'],
    ['of another network', encode({ ...valid, network: 'mainnet' }), 'wrong_network'],
    ['over 8 KiB', encode({ ...valid, pad: 'x'.repeat(MAX_PROOF_HEADER_BYTES) }), 'malformed_proof'],
  ])('(%s) is answered 402 without a look-up', async (_name, header, failure) => {
    const response = await send(gateway.port, { path: '/api/weather', headers: { 'X-Payment': header } });
    expect([response.status, response.headers['x-payment-failure']]).toEqual([402, failure]);
    expect(parseChallenge(JSON.parse(response.body)).error).toBe('Invalid payment format or network');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(verifier.questions).toHaveLength(0);
  });

  it('(sent twice) is answered 400 without a look-up', async () => {
    const proof = proofFor(createTxHash());
    const response = await send(gateway.port, { path: '/api/weather', headers: { 'X-Payment': [proof, proof] } });
    expect([response.status, JSON.parse(response.body)]).toMatchObject([400, { code: 'payment_ambiguous' }]);
    expect(verifier.questions).toHaveLength(0);
  });

  it.each(['chain-1700000000000-abc', 'another reference'])('(reference %s) is answered 402', async (reference) => {
    const headers = { 'X-Payment': proofFor(createTxHash(), { reference }) };
    const response = await send(gateway.port, { path: '/api/weather', headers });
    expect([response.status, response.headers['x-payment-failure']]).toEqual([402, 'unknown_reference']);
    expect(parseChallenge(JSON.parse(response.body)).error).toBe('Payment verification failed');
  });
});

describe('a reference in the payment', () => {
  const challengeOf = async (path: string, method = 'GET'): Promise<string> => {
    const { body } = await send(gateway.port, { path, method });
    return parseChallenge(JSON.parse(body)).accepts[0]!.extra.reference;
  };

  it('reaches the verifier with its time and price, if it was issued for this request', async () => {
    const reference = await challengeOf('/v1/quotes/A');
    verifier.questions.length = 0;
    const txHash = createTxHash();
    const headers = { 'X-Payment': proofFor(txHash, { reference }) };
    expect((await send(gateway.port, { path: '/v1/quotes/A', headers })).status).toBe(200);
    expect(verifier.questions[0]?.reference).toEqual({
      text: reference,
      issuedAtMs: Number(reference.split('-')[1]),
      priceBaseUnits: '1000',
    });
    for (const other of [
      { path: '/v1/quotes/B' },
      { path: '/v1/quotes/A', method: 'POST' },
      { path: '/api/weather' },
    ]) {
      const response = await send(gateway.port, { ...other, headers });
      expect([response.status, response.headers['x-payment-failure']]).toEqual([402, 'unknown_reference']);
    }
  });

  it('signed with an earlier secret is accepted until that secret is removed', async () => {
    const reference = await challengeOf('/api/weather');
    const headers = { 'X-Payment': proofFor(createTxHash(), { reference }) };
    const another = 'another-secret-of-more-than-32-characters';
    const secrets = [`${another},a-secret-of-more-than-thirty-two-characters`, another];
    const statuses: number[] = [];
    for (const CHALLENGE_SECRET of secrets) {
      const other = await startGateway(redis.url, routes, { CHALLENGE_SECRET });
      statuses.push((await send(other.port, { path: '/api/weather', headers })).status);
      await other.stop();
    }
    expect(statuses).toEqual([200, 402]);
  });
});

describe('a request that cannot be served', () => {
  it.each([
    ['GET', '/nothing', 404, 'not_found'],
    ['POST', '/api/weather', 405, 'method_not_allowed'],
    ['DELETE', '/API//weather/', 405, 'method_not_allowed'],
    ['POST', '/health/live', 405, 'method_not_allowed'],
    ['GET', '/api/%zz', 400, 'bad_request'],
    ['GET', `/v1/quotes/${'x'.repeat(2000)}`, 414, 'uri_too_long'],
    ['GET', `/v1/quotes/${'x'.repeat(1014)}`, 414, 'uri_too_long'],
    // 1,024 bytes as it was sent, and more in the form that the challenge names.
    ['GET', `/v1/quotes/${'x'.repeat(1012)}^`, 414, 'uri_too_long'],
  ])('%s %s gets a problem', async (method, path, status, code) => {
    const response = await send(gateway.port, { method, path });
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(JSON.parse(response.body)).toMatchObject({ type: `urn:tollgate:error:${code}`, status, code });
    expect(response.headers.allow?.endsWith('OPTIONS')).toBe(status === 405 ? true : undefined);
  });

  it('is priced with a path of 1,024 bytes', async () => {
    const response = await send(gateway.port, { path: `/v1/quotes/${'x'.repeat(1013)}` });
    expect(response.status).toBe(402);
  });

  it.each([
    ['GET / HTTP/1.1\r\nHost: a\r\nX: ' + 'x'.repeat(20_000) + '\r\n\r\n', 431],
    ['NONSENSE\r\n\r\n', 400],
  ])('gets a problem if it is not valid HTTP', async (bytes, status) => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.end(bytes);
    const answer = await text(socket);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain('application/problem+json');
  });
});

describe('browsers', () => {
  const Origin = 'https://shop.example';

  it('can send preflights without payment', async () => {
    const response = await send(gateway.port, {
      method: 'OPTIONS',
      path: '/api/weather',
      headers: { Origin, 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'x-payment, x-own' },
    });
    expect(response.status).toBe(204);
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-headers']?.toLowerCase()).toContain('x-payment');
    expect(response.headers['access-control-allow-headers']).toContain('x-own');
    expect(response.headers['access-control-allow-methods']).toContain('GET');
  });

  it('can read the payment headers of every response, including 402s', async () => {
    const proof = { 'X-Payment': proofFor(createTxHash()) };
    for (const headers of [{ Origin }, { Origin, 'X-Payment': 'x' }, { Origin, ...proof }, { Origin, ...proof }]) {
      const response = await send(gateway.port, { path: '/api/weather', headers });
      expect(response.headers['access-control-allow-origin']).toBe('*');
      expect(response.headers['access-control-expose-headers']).toContain('X-Payment-Failure');
    }
  });

  it('with an unlisted origin are not allowed', async () => {
    const strict = await startGateway(redis.url, routes, { CORS_ORIGINS: Origin });
    const allowed = await send(strict.port, { path: '/api/weather', headers: { Origin } });
    const denied = await send(strict.port, { path: '/api/weather', headers: { Origin: 'https://evil.example' } });
    expect([allowed.headers['access-control-allow-origin'], allowed.headers.vary]).toEqual([Origin, 'Accept, Origin']);
    expect(denied.headers['access-control-allow-origin']).toBeUndefined();
    await strict.stop();
  });

  it.each<[string, string, string | undefined, (string | undefined)[]]>([
    ['*', Origin, undefined, ['*', undefined, undefined]],
    ['*', Origin, 'a=b', [undefined, undefined, undefined]],
    [`*,${Origin}`, Origin, 'a=b', [Origin, 'true', 'Origin']],
    [`*,${Origin}`, 'https://other.example', undefined, ['*', undefined, 'Origin']],
    [`*,${Origin}`, 'https://other.example', 'a=b', [undefined, undefined, 'Origin']],
    [Origin, Origin, undefined, [Origin, 'true', 'Origin']],
    [Origin, 'https://other.example', 'a=b', [undefined, undefined, 'Origin']],
  ])('by CORS_ORIGINS=%s at %s with the cookie %s', (origins, origin, cookie, expected) => {
    const flat = new Cors(origins.split(',')).headersFor(origin, cookie !== undefined);
    const headers = Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : [])));
    const names = ['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials', 'Vary'];
    expect(names.map((name) => headers[name])).toEqual(expected);
    expect(headers['Access-Control-Expose-Headers'] === undefined).toBe(expected[0] === undefined);
  });

  it('with a cookie get no leave to read where every origin is allowed', async () => {
    const { headers } = await send(gateway.port, { path: '/api/weather', headers: { Origin, Cookie: 'a=b' } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});

describe('request ids', () => {
  it('are echoed and sent to the verifier if they are harmless, and generated otherwise', async () => {
    verifier.questions.length = 0;
    const ask = (id: string, headers: Record<string, string> = {}) =>
      send(gateway.port, { path: '/api/weather', headers: { 'X-Request-Id': id, ...headers } });
    expect((await ask('abc-1')).headers['x-request-id']).toBe('abc-1');
    expect((await ask('a b')).headers['x-request-id']).not.toBe('a b');
    const paid = await ask('abc-2', { 'X-Payment': proofFor(createTxHash()) });
    expect([paid.status, paid.headers['x-request-id']]).toEqual([200, 'abc-2']);
    expect(verifier.questions[0]?.requestId).toBe('abc-2');
  });
});

describe('plain HTTP', () => {
  const asProxied = (port: number, headers: Record<string, string>) => send(port, { path: '/api/weather', headers });

  it('is served to loopback clients and refused to others, as reported by a trusted proxy', async () => {
    const behind = await startGateway(redis.url, routes, { TRUST_PROXY: '127.0.0.1' });
    const client = { 'X-Forwarded-For': '192.0.2.7' };
    const refused = await asProxied(behind.port, client);
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([426, { code: 'https_required' }]);
    expect((await asProxied(behind.port, { ...client, 'X-Forwarded-Proto': 'https' })).status).toBe(402);
    const health = await send(behind.port, { path: '/health/live', headers: client });
    expect(health.status).toBe(200);
    await behind.stop();
    // The forwarded headers of an untrusted proxy are ignored.
    expect((await asProxied(gateway.port, client)).status).toBe(402);
  });

  it('is served to all clients if that is allowed', async () => {
    const open = await startGateway(redis.url, routes, { TRUST_PROXY: '127.0.0.1', ALLOW_INSECURE_HTTP: 'true' });
    expect((await asProxied(open.port, { 'X-Forwarded-For': '192.0.2.7' })).status).toBe(402);
    await open.stop();
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:192.0.2.1', false],
    [undefined, false],
  ])('from %s is from this machine: %s', (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });
});

describe('the rate limit', () => {
  it('answers 429 with Retry-After, and exempts the health routes', async () => {
    const limited = await startGateway(redis.url, routes, { RATE_LIMIT_PER_MINUTE: '2' });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      statuses.push((await send(limited.port, { path: '/api/weather' })).status);
    }
    expect(statuses).toEqual([402, 402, 429]);
    const refused = await send(limited.port, { path: '/api/weather' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await send(limited.port, { path: '/health/live' })).status).toBe(200);
    await limited.stop();
  });
});

describe('the limit of waiting payments', () => {
  // Prevents: a network with 2^64 addresses fills the queue, one address at a time.
  it('treats an IPv6 network with many addresses as one client', async () => {
    const behind = await startGateway(redis.url, routes, { TRUST_PROXY: '127.0.0.1' });
    for (const from of [
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff::9',
      '2001:db8:1:3::1',
      '::ffff:192.0.2.7',
      '192.0.2.7',
    ]) {
      const headers = { 'X-Payment': proofFor(createTxHash()), 'X-Forwarded-For': from, 'X-Forwarded-Proto': 'https' };
      await send(behind.port, { path: '/api/weather', headers });
    }
    await behind.stop();
    const [first, second, third, mapped, plain] = verifier.questions
      .slice(-5)
      .map(({ clientAddress }) => clientAddress);
    expect([first === second, first === third, mapped === plain]).toEqual([true, false, true]);
  });
});

describe('the operator', () => {
  it('can read readiness, metrics and the OpenAPI document', async () => {
    const read = () => send(gateway.port, { path: '/health/ready' });
    await waitFor('a verifier has agreed', async () => (await read()).status === 200);
    expect(JSON.parse((await read()).body)).toMatchObject({ status: 'ok', details: { verifier: { status: 'up' } } });
    const metrics = await send(gateway.port, { path: '/metrics' });
    expect(metrics.body).toMatch(/tollgate_challenges_total\{reason="unpaid",service="gateway"\} [1-9]/);
    expect(metrics.body).toMatch(/tollgate_challenges_total\{reason="malformed_proof",service="gateway"\} [1-9]/);
    expect(metrics.body).toMatch(/tollgate_answers_total\{origin="paid",service="gateway"\} [1-9]/);
    expect(metrics.body).toContain('tollgate_purchase_seconds_bucket');
    const document = JSON.parse((await send(gateway.port, { path: '/docs/openapi.json' })).body);
    expect([document.info.title, document.tags]).toMatchObject(['Tollgate', [{ name: 'Paid resources' }]]);
    expect(Object.keys(document.paths).filter((path) => /^\/(agent|facilitator|health|metrics)/.test(path))).toEqual(
      [],
    );
    expect(document.paths['/api/weather'].get.summary).toContain('0.001 USDC');
    const { post } = document.paths['/v1/quotes/{symbol}'];
    const names = ['symbol', 'X-Payment', 'PAYMENT-SIGNATURE', 'Idempotency-Key'];
    expect(post.parameters).toMatchObject(names.map((name) => ({ name })));
    expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['200', '402', '409', '410', '429', '503']));
    const operations = JSON.parse((await send(gateway.port, { path: '/docs/operations/openapi.json' })).body);
    expect(Object.keys(operations.paths)).toEqual(['/health/live', '/health/ready', '/metrics']);
    const page = await send(gateway.port, { path: '/docs' });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('swagger-ui-bundle.js')]);
    expect((await send(gateway.port, { path: '/docs/swagger-ui-bundle.js' })).status).toBe(200);
  });
});

describe('stopping', () => {
  // Prevents: a connection that a browser opened in advance keeps the process from ending.
  it('does not wait for a connection without a request', async () => {
    const stopping = await startGateway(redis.url, []);
    const silent = connect(stopping.port, '127.0.0.1');
    const closed = once(silent, 'close');
    // This response comes on a later connection, so the silent one has been accepted by then.
    await fetch(`${stopping.url}/health/live`);
    await stopping.stop();
    await closed;
  });

  it('finishes the requests in flight, including one whose client disconnected', async () => {
    const started: (() => void)[] = [];
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const slow = createRoute(async () => {
      started.shift()?.();
      await finished;
      return answerJson('late');
    });
    const stopping = await startGateway(redis.url, [slow]);
    const [hashA, hashB] = [createTxHash(), createTxHash()];
    const bothStarted = Promise.all([0, 1].map(() => new Promise<void>((resolve) => started.push(resolve))));
    const controller = new AbortController();
    const kept = pay(`${stopping.url}/api/weather`, { txHash: hashA, key: 'a' });
    const left = pay(`${stopping.url}/api/weather`, { txHash: hashB, key: 'b', signal: controller.signal });
    await bothStarted;
    controller.abort();
    await expect(left).rejects.toThrow();
    const stopped = stopping.stop();
    await sleep(100);
    finish();
    expect(await (await kept).json()).toBe('late');
    await stopped;
    const again = await pay(`${gateway.url}/api/weather`, { txHash: hashB, key: 'b' });
    expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', 'late']);
  });
});

describe('without Redis', () => {
  it('challenges are still sent, payments get 503, and both work once Redis is back', async () => {
    await redis.kill();
    expect((await fetch(`${gateway.url}/api/weather`)).status).toBe(402);
    const response = await pay(`${gateway.url}/api/weather`, { key: 'k' });
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'verification_unavailable' }]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    let status = 0;
    // The result of a health check is cached briefly.
    while (status !== 503) status = (await fetch(`${gateway.url}/health/ready`)).status;
    await redis.start();
    await waitFor('a payment that is accepted', async () => (await pay(`${gateway.url}/api/weather`)).status === 200);
  });
});
