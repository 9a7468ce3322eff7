import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

import { readEnvironment } from '@tollgate/config';
import type { FastifyInstance } from 'fastify';

import { ServerEnvironment } from '../config/server.environment.js';
import { createServer } from './create-server.js';
import { drain } from './drain.js';

const DRAIN_MS = 1_000;
const CLOSE = /\r\nConnection: close\r\n/i;

describe('a server that stops', () => {
  let server: FastifyInstance;
  let port: number;
  let isStopping: boolean;
  /** Ends the response of `/slow`, whether it has begun or not. */
  let finish: () => void;

  async function start(env: Record<string, string> = {}): Promise<void> {
    const environment = readEnvironment(ServerEnvironment, { DRAIN_MS: String(DRAIN_MS), ...env });
    const paths = { free: ['/', '/slow', '/stream'], operational: [], guarded: [] };
    isStopping = false;
    const created = createServer(environment, paths, () => isStopping);
    server = created.server;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    server.get('/', async () => 'served');
    server.get('/slow', async () => {
      await finished;
      return 'late';
    });
    server.get('/stream', (_, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'Content-Length': '2' }).write('a');
      void finished.then(() => reply.raw.end('b'));
    });
    created.completeRoutes();
    await server.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = server.server.address() as AddressInfo);
  }

  afterEach(() => server.close());

  async function open(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  /** Reads from the connection up to the end of a response. */
  async function ask(socket: Socket, path = '/', end = 'served'): Promise<string> {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return readTo(socket, end);
  }

  async function readTo(socket: Socket, end: string): Promise<string> {
    let received = '';
    while (!received.endsWith(end)) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      received += chunk.toString();
    }
    return received;
  }

  const untilClosed = async () => {
    while (server.server.listening) await sleep(2);
  };

  it('answers requests that arrive on open connections while it stops listening', async () => {
    await start();
    const [silent, used] = [await open(), await open()];
    await ask(used);
    const drained = drain(server.server, DRAIN_MS);
    await untilClosed();
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await Promise.all([ask(silent), ask(used)])).toEqual(Array(2).fill(expect.stringContaining('200 OK')));
    await drained;
  });

  it('answers a request that soon follows a response in progress', async () => {
    await start();
    const socket = await open();
    await ask(socket, '/stream', 'a');
    await drain(server.server, DRAIN_MS);
    const closed = server.close();
    await sleep(200);
    finish();
    await readTo(socket, 'b');
    await sleep(100);
    const answer = await ask(socket);
    expect(answer).toContain('200 OK');
    expect(answer).toMatch(CLOSE);
    await closed;
  });

  it('does not wait for a TLS connection without a request', async () => {
    await start({
      TLS_CERT: 'test/certificates/localhost.cert.pem',
      TLS_KEY: 'test/certificates/localhost.key.pem',
      DRAIN_MS: '0',
    });
    const silent = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(silent, 'secureConnect');
    const closed = once(silent, 'close');
    await server.close();
    await closed;
  });

  it('does not wait for a client that was refused and leaves its connection open', async () => {
    await start({ DRAIN_MS: '0' });
    const refused = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    refused.write('no request\r\n\r\n');
    refused.resume();
    await once(refused, 'end');
    await server.close();
    refused.destroy();
  });

  it('closes the connection with every response after the signal', async () => {
    await start({ TRUST_PROXY: '127.0.0.1' });
    const agent = new Agent({ keepAlive: true });
    const get = async (path: string, headers = {}): Promise<[number | undefined, string | undefined]> => {
      const [answer] = (await once(request({ port, path, agent, headers }).end(), 'response')) as [IncomingMessage];
      await text(answer);
      return [answer.statusCode, answer.headers.connection];
    };
    expect(await get('/')).toEqual([200, 'keep-alive']);
    const slow = get('/slow');
    // This response comes on a later connection, so the slow request is in progress by then.
    await get('/');
    isStopping = true;
    finish();
    try {
      expect(await slow).toEqual([200, 'close']);
      expect(await get('/')).toEqual([200, 'close']);
      expect(await get('/nowhere')).toEqual([404, 'close']);
      expect(await get('/%zz')).toEqual([400, 'close']);
      expect(await get('/', { 'X-Forwarded-For': '10.0.0.1' })).toEqual([426, 'close, Upgrade']);
    } finally {
      agent.destroy();
    }
  });
});
