import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as startRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { MAX_PROOF_HEADER_BYTES } from '@tollgate/protocol';

import type { ProducedAnswer } from '../../apps/gateway/src/paywall/route/paid-route.js';
import {
  answerJson,
  createRoute,
  createTxHash,
  proofFor,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
  type SentAnswer,
} from '../../apps/gateway/test/start-gateway.js';
import { startChild, type Child } from '../../tools/devnet/processes/child-process.js';
import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { waitFor } from '../harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../harness/stack/borrow-redis.js';

const page = readFileSync('docs/operations/install.md', 'utf8');
const CERTIFICATE = join(process.cwd(), 'test/certificates/localhost.cert.pem');
const KEY = join(process.cwd(), 'test/certificates/localhost.key.pem');

/** The page's configuration in this language. */
function configurationOf(language: string): string {
  const [, block] = new RegExp('```' + language + '\\n(.*?)```', 's').exec(page) ?? [];
  return block ?? '';
}

let folder: string;
let redis: BorrowedRedis;
let verifier: LedgerVerifier;
let gateway: RunningGateway;
const streams: PassThrough[] = [];

function stream(): ProducedAnswer {
  const body = new PassThrough();
  body.write('first');
  streams.push(body);
  return { status: 200, headers: [['content-type', 'text/plain']], body };
}

const routes = [
  createRoute(({ sent }) => answerJson(sent.path), { path: '/v1/*', description: '語'.repeat(500) }),
  createRoute(stream, { path: '/stream', answer: 'streamed' }),
];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'behind-proxies-'));
  redis = await borrowRedis();
  verifier = await startLedgerVerifier(redis.url);
  // As from another machine: without the proxy's headers, plain HTTP is refused.
  gateway = await startGateway(redis.url, routes, { SIGNED_PAYMENTS: 'true', TRUST_PROXY: '127.0.0.1' });
});

afterAll(async () => {
  await gateway?.stop();
  await verifier?.stop();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a path as it is, for the site `localhost`. */
async function open(port: number, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const to = { host: '127.0.0.1', servername: 'localhost', port, path, agent: false, rejectUnauthorized: false };
  const request = startRequest({ ...to, headers: { Host: `localhost:${port}`, ...headers } }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function ask(port: number, path: string, headers?: Record<string, string>): Promise<SentAnswer> {
  const response = await open(port, path, headers);
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

interface Proxy {
  readonly port: number;
  readonly stop: () => Promise<unknown>;
}

async function startProxy(name: string, port: number, args: string[]): Promise<Proxy> {
  // Caddy keeps its files in the home of its user.
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child: Child = await startChild({ name, command: name, args, env });
  await waitFor(`${name} to listen`, () => {
    if (child.hasExited()) throw new Error(child.logs());
    return ask(port, '/').then(
      () => true,
      () => false,
    );
  });
  return { port, stop: () => child.end('SIGTERM') };
}

/** nginx with a server of the page, in which only names, ports and files are others. */
async function startNginx(server = configurationOf('nginx')): Promise<Proxy> {
  const port = await findFreePort();
  const block = server
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('api.example;', 'localhost;')
    .replace('/etc/ssl/api.example.pem', CERTIFICATE)
    .replace('/etc/ssl/api.example.key', KEY)
    .replace('127.0.0.1:4020', `127.0.0.1:${gateway.port}`);
  const home = join(folder, `nginx-${port}`);
  mkdirSync(home);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${home}/${kind};`,
  );
  const outer = ['daemon off;', 'master_process off;', `pid ${home}/pid;`, 'error_log stderr;', 'events {}'];
  const file = join(home, 'nginx.conf');
  writeFileSync(file, `${outer.join('\n')}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${block}}\n`);
  return startProxy('nginx', port, ['-c', file, '-e', 'stderr']);
}

async function startCaddy(): Promise<Proxy> {
  const port = await findFreePort();
  const site = configurationOf('caddyfile')
    .replace('api.example {', `https://localhost:${port} {\n\ttls ${CERTIFICATE} ${KEY}`)
    .replace('127.0.0.1:4020', `127.0.0.1:${gateway.port}`);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  return startProxy('caddy', port, ['run', '--adapter', 'caddyfile', '--config', file]);
}

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
])('behind %s as docs/operations/install.md configures it', (_, start) => {
  let proxy: Proxy;

  beforeAll(async () => {
    proxy = await start();
  });
  afterAll(() => proxy?.stop());

  const send = (path: string, headers: Record<string, string> = {}) => ask(proxy.port, path, headers);

  it('a client gets the challenge, however long its head is, with the URL that it asked for', async () => {
    const path = `/v1/${'x'.repeat(1000)}`;
    const unpaid = await send(path, { Origin: 'https://shop.example' });
    expect(unpaid.status).toBe(402);
    const required = JSON.parse(
      Buffer.from(unpaid.headers['payment-required'] as string, 'base64').toString(),
    ) as unknown;
    expect(required).toMatchObject({ resource: { url: `https://localhost:${proxy.port}${path}` } });
  });

  it.each(['/v1/a/', '/v1/a%3Ab', '/v1/a:b', '/v1/%41', '/v1/a//b', '/v1/a/?q=%20'])(
    'the path that is paid for is the one that was sent: %s',
    async (path) => {
      const paid = await send(path, { 'X-Payment': proofFor(createTxHash()) });
      expect([paid.status, paid.body]).toEqual([200, JSON.stringify(path.replace(/\?.*/, ''))]);
    },
  );

  it('the gateway itself refuses the longest payment', async () => {
    const refused = await send('/v1/a', { 'X-Payment': 'x'.repeat(MAX_PROOF_HEADER_BYTES) });
    expect([refused.status, refused.headers['x-payment-failure']]).toEqual([402, 'malformed_proof']);
  });

  it('a client cannot claim that it came over plain HTTP', async () => {
    expect((await send('/v1/a', { 'X-Forwarded-Proto': 'http', 'X-Forwarded-For': '8.8.8.8' })).status).toBe(402);
  });

  it.each([
    '/health/live',
    '/Metrics',
    '//metrics',
    '/%6detrics',
    '/metrics/',
    '/v1/../metrics',
    '/metrics?a',
    '/./metrics',
  ])('nobody reads %s', async (path) => {
    const { status, body } = await send(path);
    expect([status, body]).toEqual([404, expect.not.stringContaining('not_found')]);
  });

  it('a streamed answer leaves as it comes', async () => {
    const response = await open(proxy.port, '/stream', { 'X-Payment': proofFor(createTxHash()) });
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('first');
    streams.at(-1)?.end(' last');
    expect(await text(response)).toBe(' last');
  });
});

it('a stock nginx refuses the challenge with 502, which the settings of docs/operations/install.md prevent', async () => {
  const stock = configurationOf('nginx').replaceAll(/^ +(proxy_buffer|large_client).*\n/gm, '');
  const proxy = await startNginx(stock);
  try {
    expect((await ask(proxy.port, `/v1/${'x'.repeat(1000)}`)).status).toBe(502);
  } finally {
    await proxy.stop();
  }
});
