import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { promisify } from 'node:util';

import { readEnvironment } from '@tollgate/config';
import type { FastifyInstance } from 'fastify';

import { waitFor } from '../../../../test/harness/retry.js';
import { ServerEnvironment } from '../config/server.environment.js';
import { createServer } from './create-server.js';

describe('a route on the server', () => {
  it('is closed unless it has an access rule, and is logged at the start', async () => {
    const paths = { free: ['/free', '/docs/*'], operational: ['/health'], guarded: [] };
    const { server, completeRoutes, closedRoutes } = createServer(readEnvironment(ServerEnvironment, {}), paths);
    for (const path of ['/free', '/docs/a', '/health', '/forgotten']) server.get(path, async () => 'served');
    server.get('/says-so', { config: { access: 'free' } }, async () => 'served');
    completeRoutes();
    await server.ready();
    const statusOf = async (url: string): Promise<number> => (await server.inject({ url })).statusCode;
    for (const path of ['/free', '/docs/a', '/health', '/says-so', '/FREE/']) expect(await statusOf(path)).toBe(200);
    for (const path of ['/forgotten', '/Forgotten/', '//forgotten', '/%66orgotten']) {
      expect(await statusOf(path)).toBe(403);
    }
    expect((await server.inject({ method: 'HEAD', url: '/forgotten' })).statusCode).toBe(403);
    expect(closedRoutes).toEqual(['GET /forgotten', 'HEAD /forgotten']);
    await server.close();
  });
});

describe('bytes that are no request', () => {
  let body: PassThrough;
  let server: FastifyInstance;
  let client: Socket;
  let received: string;

  beforeEach(async () => {
    const paths = { free: ['/stream'], operational: [], guarded: [] };
    const created = createServer(readEnvironment(ServerEnvironment, {}), paths);
    ({ server } = created);
    body = new PassThrough();
    server.get('/stream', async (_, reply) => reply.send(body));
    created.completeRoutes();
    await server.listen({ port: 0, host: '127.0.0.1' });
    client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    received = '';
    client.on('data', (chunk) => (received += chunk.toString()));
  });

  afterEach(async () => {
    client.destroy();
    body.destroy();
    await server.close();
  });

  it('are answered with 400, and the connection is closed', async () => {
    client.write('no request\r\n\r\n');
    await once(client, 'close');
    expect(received).toMatch(/^HTTP\/1.1 400 /);
  });

  it('do not keep the connection of a client that leaves it open', async () => {
    const open = connect({
      port: (server.server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    open.write('no request\r\n\r\n');
    open.resume();
    await once(open, 'end');
    client.destroy();
    const count = promisify(server.server.getConnections.bind(server.server));
    await waitFor('no connection is left', async () => (await count()) === 0);
    open.destroy();
  });

  // Prevents: a problem document in the middle of an answer that was paid for, and is spent.
  it('break off a response under way, and write nothing into it', async () => {
    client.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
    body.write('first');
    while (!received.includes('first')) await once(client, 'data');
    client.write('no request\r\n\r\n');
    await once(client, 'close');
    expect(received).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n5\r\nfirst\r\n$/);
  });
});

describe('a client that half-closes its connection after its requests', () => {
  const certificate = 'test/certificates/localhost.cert.pem';
  const overTls = { TLS_CERT: certificate, TLS_KEY: 'test/certificates/localhost.key.pem' };

  it.each([
    ['HTTP', {}, (port: number) => connect({ port, host: '127.0.0.1', allowHalfOpen: true })],
    [
      'HTTPS',
      overTls,
      (port: number) =>
        connectTls({
          port,
          host: '127.0.0.1',
          ca: readFileSync(certificate),
          allowHalfOpen: true,
        } as ConnectionOptions),
    ],
  ])('gets all answers over %s, and its connection is closed', async (_scheme, settings, open) => {
    const { server, completeRoutes } = createServer(readEnvironment(ServerEnvironment, settings), {
      free: ['/slow'],
      operational: [],
      guarded: [],
    });
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      server.get('/slow', async () => {
        resolve();
        await new Promise<void>((done) => (answer = done));
        return 'answered';
      });
    });
    completeRoutes();
    await server.listen({ port: 0, host: '127.0.0.1' });
    const client = open((server.server.address() as AddressInfo).port);
    const half = new Promise((resolve) =>
      server.server.once(settings === overTls ? 'secureConnection' : 'connection', (socket: Socket) =>
        socket.once('end', resolve),
      ),
    );
    client.end('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all([asked, half]);
    answer();
    expect(await text(client)).toMatch(/^HTTP\/1.1 200 [^]*answered[^]*HTTP\/1.1 404 /);
    await server.close();
  });
});

describe('a certificate that cannot be read', () => {
  it('is a configuration error', () => {
    const environment = readEnvironment(ServerEnvironment, { TLS_CERT: '/no/cert.pem', TLS_KEY: '/no/key.pem' });
    expect(() => createServer(environment, { free: [], operational: [], guarded: [] })).toThrow(
      'TLS_CERT: the file /no/cert.pem',
    );
  });
});
