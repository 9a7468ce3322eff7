import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';

import { startRawUpstream, startUpstream, type Upstream } from '../../../../../test/flows/start-upstream.js';
import { parsePathPattern } from '../../paywall/route/paid-path.js';
import { UpstreamError, type ResourceRequest } from '../../paywall/route/paid-route.js';
import { ProxyResource, type ProxyOptions } from './proxy-resource.js';
import { PublicPaths } from './public-paths.js';
import { UpstreamPath } from './upstream-path.js';

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

function started<T extends Upstream>(upstream: T): T {
  stops.push(() => upstream.stop());
  return upstream;
}

function proxy(origin: string, options: Partial<ProxyOptions> = {}): ProxyResource {
  const resource = new ProxyResource({
    origin,
    path: new UpstreamPath(parsePathPattern('/q/:symbol'), '/'),
    publicPaths: new PublicPaths(undefined),
    headers: { added: [], passCredentials: false },
    answer: 'stored',
    timeoutMs: 30_000,
    maxStoredAnswerBytes: 1_000,
    ...options,
  });
  stops.push(() => resource.close());
  return resource;
}

function request(fields: Partial<ResourceRequest> = {}): ResourceRequest {
  return {
    method: 'GET',
    path: '/q/SEI',
    query: '',
    sent: { path: '/q/SEI', params: { symbol: 'SEI' } },
    headers: {},
    body: null,
    idempotencyKey: 'key-of-the-payment',
    requestId: 'req-1',
    clientAddress: '203.0.113.9',
    verification: { isValid: true, txHash: '0x00' },
    signal: new AbortController().signal,
    ...fields,
  };
}

async function failure(produced: Promise<unknown>): Promise<UpstreamError> {
  const error: unknown = await produced.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  return error as UpstreamError;
}

/** Enough to connect, and to send a request, on a busy machine too. */
const HASTY_MS = 3_000;

describe('the charge of a response', () => {
  it.each<[string, string[], boolean, string | undefined]>([
    ['is read if the route is metered', ['Tollgate-Charge', '0.01'], true, '0.01'],
    ['is ignored on another route', ['Tollgate-Charge', '0.01'], false, undefined],
    ['may be left out', [], true, undefined],
    ['is no number where it is said twice', ['Tollgate-Charge', '0.01', 'tollgate_charge', '0.02'], true, '0.01, 0.02'],
  ])('%s', async (_, headers, isMetered, expected) => {
    const upstream = started(await startUpstream((_request, response) => response.writeHead(200, headers).end('x')));
    const produced = await proxy(upstream.url, { isMetered }).produce(request());
    expect(produced.charge).toBe(expected);
    expect(produced.headers.filter(([name]) => name.includes('charge'))).toEqual([]);
  });
});

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('ProxyResource forwards', () => {
  it('method, path, query and body, and the unchanged response', async () => {
    const upstream = started(
      await startUpstream((_, response) => {
        response.writeHead(201, { 'content-type': 'application/json', 'x-own': '1' }).end('{"ok":true}');
      }),
    );
    const produced = await proxy(upstream.url).produce(
      request({
        method: 'POST',
        query: 'a=1&b=%20#x y',
        headers: { 'content-type': 'text/plain', 'x-payment': 'proof', host: 'gate' },
        body: Buffer.from('hello'),
      }),
    );
    expect(upstream.requests).toMatchObject([{ method: 'POST', url: '/q/SEI?a=1&b=%20%23x%20y', body: 'hello' }]);
    expect(upstream.requests[0]!.headers).toMatchObject({
      host: new URL(upstream.url).host,
      'content-type': 'text/plain',
      'content-length': '5',
      'idempotency-key': 'key-of-the-payment',
      'x-forwarded-for': '203.0.113.9',
    });
    expect(upstream.requests[0]!.headers).not.toHaveProperty('x-payment');
    expect(produced).toMatchObject({ status: 201, body: Buffer.from('{"ok":true}') });
    expect(Object.fromEntries(produced.headers)).toMatchObject({ 'content-type': 'application/json', 'x-own': '1' });
  });

  it('errors', async () => {
    const upstream = started(await startUpstream((_, response) => response.writeHead(500).end('no')));
    const resource = proxy(upstream.url);
    expect(await resource.produce(request())).toMatchObject({ status: 500, body: Buffer.from('no') });
  });

  // Prevents: an upstream that ignores the body of a GET takes it for another request, which nobody has paid for.
  it.each(['GET', 'DELETE'])('the body of a %s, on a connection that ends with it', async (method) => {
    const upstream = started(await startUpstream((_, response) => response.end('ok')));
    const resource = proxy(upstream.url);
    const body = Buffer.from('GET /q/free HTTP/1.1\r\nHost: x\r\n\r\n');
    for (let turn = 0; turn < 2; turn += 1) await resource.produce(request({ method, body }));
    const sent = { method, url: '/q/SEI', body: body.toString(), headers: { 'content-length': '33' } };
    expect(upstream.requests).toMatchObject([sent, sent]);
    expect(upstream.requests[0]?.headers.connection).toBe('close');
    expect(upstream.connections()).toBe(2);
  });

  // The upstream compresses whatever it is asked for.
  it.each<['stored' | 'streamed', string | undefined, string, string | undefined, string | null]>([
    ['stored', undefined, 'identity', undefined, 'Accept-Encoding'],
    ['stored', 'deflate, gzip;q=0.5, zstd, br;q=0', 'gzip', 'gzip', 'Accept-Encoding'],
    ['streamed', 'zstd', 'zstd', 'gzip', null],
  ])('a compressed %s body to a client that accepts %p', async (answer, accepted, asked, coding, vary) => {
    const upstream = started(
      await startUpstream((_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('text '.repeat(100))),
      ),
    );
    const headers = { ...(accepted !== undefined && { 'accept-encoding': accepted }) };
    const produced = await proxy(upstream.url, { answer }).produce(request({ headers }));
    expect(upstream.requests[0]?.headers['accept-encoding']).toBe(asked);
    const bytes = Buffer.isBuffer(produced.body) ? produced.body : await buffer(produced.body);
    expect((coding === undefined ? bytes : gunzipSync(bytes)).toString()).toBe('text '.repeat(100));
    const named = (name: string) => produced.headers.find(([one]) => one === name)?.[1];
    expect([named('content-encoding'), named('vary') ?? null]).toEqual([coding, vary]);
  });

  // Prevents: a client pays for bytes that it cannot read.
  it.each<[string, string, Buffer]>([
    ['in a coding that nobody asked for', 'zstd', Buffer.from('x')],
    ['that is no such coding', 'gzip', Buffer.from('x')],
    ['that decodes to too much', 'gzip', gzipSync(Buffer.alloc(20_001))],
    ['that is too large to be stored', 'gzip', gzipSync(randomBytes(2_000))],
  ])('no stored answer %s, unless the client reads it', async (_, coding, body) => {
    const upstream = started(
      await startUpstream((_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(body)),
    );
    const resource = proxy(upstream.url);
    expect(await failure(resource.produce(request({ method: 'POST' })))).toMatchObject({ kind: 'failed' });
    const { body: sold } = await resource.produce(request({ headers: { 'accept-encoding': coding } }));
    expect(Buffer.isBuffer(sold) ? sold : await buffer(sold)).toEqual(body);
  });

  it('a HEAD response with its Content-Length', async () => {
    const upstream = started(
      await startUpstream((_, response) => response.writeHead(200, { 'content-length': '7' }).end()),
    );
    const produced = await proxy(upstream.url).produce(request({ method: 'HEAD' }));
    expect(produced.headers).toContainEqual(['content-length', '7']);
    expect(produced.body).toHaveLength(0);
  });

  it('a streamed response while it is being produced', async () => {
    let finish = (): void => undefined;
    const upstream = started(
      await startUpstream((_, response) => {
        response.writeHead(200).write('first ');
        finish = () => void response.end('last');
      }),
    );
    const { body } = await proxy(upstream.url, { answer: 'streamed' }).produce(request());
    const pieces = (body as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    expect(String((await pieces.next()).value)).toBe('first ');
    finish();
    expect(String((await pieces.next()).value)).toBe('last');
    expect((await pieces.next()).done).toBe(true);
  });

  it('a response too large to be stored, completely and as a stream', async () => {
    const large = Buffer.alloc(3_000_000, 'x');
    const upstream = started(await startUpstream((_, response) => response.writeHead(200).end(large)));
    const { body, headers } = await proxy(upstream.url).produce(request());
    expect(Buffer.isBuffer(body)).toBe(false);
    expect((await buffer(body as Readable)).equals(large)).toBe(true);
    expect(headers).not.toContainEqual(['content-length', expect.anything()]);
  });

  it('only the final response, without informational ones', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    const upstream = started(await startRawUpstream((socket) => socket.write(early)));
    expect(await proxy(upstream.url).produce(request())).toMatchObject({ status: 200, body: Buffer.from('ok') });
  });

  it.each([402, 600, 999])('no response with status %d', async (status) => {
    const head = `HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\n{}`;
    const upstream = started(await startRawUpstream((socket) => socket.write(head)));
    expect(await failure(proxy(upstream.url).produce(request()))).toMatchObject({ kind: 'failed' });
  });
});

describe('ProxyResource reports the fate of the request when', () => {
  it('the port has no listener: refused', async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`;
    const error = await failure(proxy(origin).produce(request({ method: 'POST', body: Buffer.from('x') })));
    expect(error.kind).toBe('refused');
    expect(error.message).toMatch(/ECONNREFUSED/);
  });

  it('the name does not exist: refused', async () => {
    const error = await failure(proxy('http://upstream.invalid').produce(request({ method: 'POST' })));
    expect(error.kind).toBe('refused');
  });

  it('the connection takes too long: refused, as a time-out', async () => {
    const silent = started(await startRawUpstream(() => undefined));
    const origin = silent.url.replace('http:', 'https:');
    const error = await failure(proxy(origin, { timeoutMs: 1000 }).produce(request({ method: 'POST' })));
    expect(error).toMatchObject({ kind: 'refused', options: { timedOut: true } });
  });

  it('the upstream speaks no TLS: refused', async () => {
    const upstream = started(await startRawUpstream((socket) => socket.end('hello\n')));
    const origin = upstream.url.replace('http:', 'https:');
    expect(await failure(proxy(origin).produce(request({ method: 'POST' })))).toMatchObject({ kind: 'refused' });
  });

  it.each([
    ['GET', 'failed'],
    ['POST', 'unknown'],
  ])('the upstream hangs: %s is %s, as a time-out', async (method, kind) => {
    const upstream = started(await startUpstream(() => undefined));
    const error = await failure(proxy(upstream.url, { timeoutMs: HASTY_MS }).produce(request({ method })));
    expect(error).toMatchObject({ kind, options: { timedOut: true } });
    expect(upstream.connections()).toBe(1);
  });

  it('the upstream trickles a stored response past the timeout: failed', async () => {
    const upstream = started(
      await startUpstream((_, response) => {
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const error = await failure(proxy(upstream.url, { timeoutMs: HASTY_MS }).produce(request()));
    expect(error).toMatchObject({ kind: 'failed', options: { timedOut: true } });
  });

  it.each([
    ['its length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'],
    ['its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['anything', ''],
    ['garbage', 'SSH-2.0-OpenSSH_9\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
    ['a head too long for many clients', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ${'x'.repeat(15_000)}\r\n\r\n`],
    ['a header of 1 MB', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`],
    ['thousands of headers', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${'X: 12345678\r\n'.repeat(2_000)}\r\n`],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ])('the upstream breaks off after %s: failed, but unknown for an unsafe method', async (_, head) => {
    const upstream = started(await startRawUpstream((socket) => socket.end(head)));
    expect(await failure(proxy(upstream.url).produce(request()))).toMatchObject({ kind: 'failed' });
    const post = request({ method: 'POST', body: Buffer.from('x') });
    expect(await failure(proxy(upstream.url).produce(post))).toMatchObject({ kind: 'unknown' });
  });

  it('the upstream breaks off a streamed response: the stream fails', async () => {
    const upstream = started(
      await startRawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
    );
    const { body, headers } = await proxy(upstream.url, { answer: 'streamed' }).produce(request());
    expect(headers).toContainEqual(['content-length', '10']);
    await expect(buffer(body as Readable)).rejects.toThrow();
  });

  it('the upstream breaks off or hangs before the first byte of a streamed response: as for a stored one', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
    const broken = started(await startRawUpstream((socket) => socket.end(head)));
    const streamed = { answer: 'streamed' } as const;
    expect(await failure(proxy(broken.url, streamed).produce(request()))).toMatchObject({ kind: 'failed' });
    const post = request({ method: 'POST' });
    expect(await failure(proxy(broken.url, streamed).produce(post))).toMatchObject({ kind: 'unknown' });
    const hanging = started(await startRawUpstream((socket) => socket.write(head)));
    const hasty = { ...streamed, timeoutMs: HASTY_MS };
    expect(await failure(proxy(hanging.url, hasty).produce(request()))).toMatchObject({
      kind: 'failed',
      options: { timedOut: true },
    });
  });

  it('the upstream hangs in the middle of a streamed response: the stream fails', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf';
    const upstream = started(await startRawUpstream((socket) => socket.write(head)));
    const { body } = await proxy(upstream.url, { answer: 'streamed', timeoutMs: HASTY_MS }).produce(request());
    await expect(buffer(body as Readable)).rejects.toThrow('Body Timeout');
  });

  it('the upstream breaks off a response too large to be stored: the stream fails', async () => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n${'x'.repeat(2_000)}`;
    const upstream = started(await startRawUpstream((socket) => socket.end(head)));
    const { body } = await proxy(upstream.url).produce(request());
    await expect(buffer(body as Readable)).rejects.toThrow();
  });

  it('the upstream closed a kept-alive connection: a safe request is sent once more', async () => {
    const answered = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    let requests = 0;
    const upstream = started(
      await startRawUpstream((socket) => {
        requests += 1;
        if (requests === 2) socket.destroy();
        else socket.write(answered);
      }),
    );
    const resource = proxy(upstream.url);
    expect((await resource.produce(request())).body).toEqual(Buffer.from('ok'));
    expect((await resource.produce(request())).body).toEqual(Buffer.from('ok'));
    expect([requests, upstream.connections()]).toEqual([3, 2]);
  });

  it.each([
    ['GET', 'failed'],
    ['POST', 'unknown'],
  ])('the request is aborted: %s is %s and the connection to the upstream ends', async (method, kind) => {
    const abort = new AbortController();
    const upstream = await startUpstream((_, response) => {
      response.on('close', () => ended());
      abort.abort();
    });
    started(upstream);
    let ended = (): void => undefined;
    const closed = new Promise<void>((resolve) => (ended = resolve));
    const error = await failure(proxy(upstream.url).produce(request({ method, signal: abort.signal })));
    expect(error).toMatchObject({ kind });
    await closed;
  });

  it.each(['streamed', 'stored'] as const)(
    'a stream on a %s route is aborted: the connection to the upstream ends',
    async (answer) => {
      let ended = (): void => undefined;
      const upstream = started(
        await startUpstream((_, response) => {
          response.on('close', () => ended());
          response.writeHead(200).write('x'.repeat(2_000));
        }),
      );
      const destroyed = new Promise<void>((resolve) => (ended = resolve));
      const first = await proxy(upstream.url, { answer }).produce(request());
      (first.body as Readable).destroy();
      await destroyed;

      const aborted = new Promise<void>((resolve) => (ended = resolve));
      const abort = new AbortController();
      const second = await proxy(upstream.url, { answer }).produce(request({ signal: abort.signal }));
      abort.abort();
      await expect(buffer(second.body as Readable)).rejects.toThrow();
      await aborted;
    },
  );
});
