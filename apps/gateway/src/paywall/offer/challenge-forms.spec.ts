import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { parseChallenge } from '@tollgate/protocol';

import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import {
  answerJson,
  createRoute,
  pay,
  startGateway,
  type RunningGateway,
  startAgreeingVerifier,
} from '../../../test/start-gateway.js';
import type { PaidRoute } from '../route/paid-route.js';
import { headBytesOf } from './head-sizes.js';

let redis: BorrowedRedis;
let stopVerifier: () => Promise<void>;
let gateway: RunningGateway;

const routes = [createRoute(() => answerJson({})), createRoute(() => answerJson({}), { path: '/files/*' })];

async function start(sold: readonly PaidRoute[], env: Record<string, string>): Promise<RunningGateway> {
  gateway = await startGateway(redis.url, sold, env);
  return gateway;
}

const decode = (value: string | null): Record<string, unknown> =>
  JSON.parse(Buffer.from(value ?? '', 'base64').toString()) as Record<string, unknown>;

beforeAll(async () => {
  redis = await borrowRedis();
  stopVerifier = await startAgreeingVerifier(redis.url);
});
afterEach(() => gateway.stop());
afterAll(async () => {
  await stopVerifier();
  await redis.stop();
});

describe('a challenge', () => {
  it('has only the documented form by default', async () => {
    const { url } = await start(routes, { PUBLIC_URL: 'https://api.example' });
    const response = await fetch(`${url}/api/weather`);
    expect(response.headers.get('payment-required')).toBeNull();
    expect(response.headers.get('www-authenticate')).toBeNull();
    const [requirement] = parseChallenge(await response.json()).accepts;
    expect(requirement).toMatchObject({ network: 'chain-testnet', resource: '/api/weather' });
  });

  it('has the same reference in body and headers, for every client', async () => {
    const { url, port } = await start(routes, { SIGNED_PAYMENTS: 'true', ASSET_NAME: 'USD Coin' });
    const response = await fetch(`${url}/files/a%20b`);
    const [requirement] = parseChallenge(await response.json()).accepts;
    expect(requirement).toMatchObject({ network: 'chain-testnet', resource: '/files/a%20b', extra: { name: 'USDC' } });
    const { reference } = requirement!.extra;
    const required = decode(response.headers.get('payment-required'));
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: `http://127.0.0.1:${port}/files/a%20b` },
      accepts: [{ network: 'eip155:1328', amount: '1000', extra: { name: 'USD Coin', reference } }],
    });
    expect(required).not.toHaveProperty('error');
    expect(response.headers.get('www-authenticate')).toContain(
      `Payment id="${reference}", realm="127.0.0.1:${port}", method="evm", intent="charge", request="`,
    );
  });

  it('of a refused payment has the reason in its header', async () => {
    const { url } = await start(routes, { SIGNED_PAYMENTS: 'true' });
    const response = await pay(`${url}/api/weather`, { headers: {}, txHash: '0x12' });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ error: 'Invalid payment format or network' });
    expect(decode(response.headers.get('payment-required'))).toMatchObject({ error: 'invalid_payload' });
    expect(response.headers.get('www-authenticate')).toMatch(/^Payment id="chain-/);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('names network and resource for x402 v1 clients if CHALLENGE_FORM says so', async () => {
    const { url } = await start(routes, {
      CHALLENGE_FORM: 'v1-clients',
      PUBLIC_URL: 'https://api.example/',
      ASSET_NAME: 'USD Coin',
    });
    for (const path of ['/api/weather', '/files/a%20b']) {
      const [requirement] = parseChallenge(await (await fetch(url + path)).json()).accepts;
      expect(requirement).toMatchObject({
        network: 'sei-testnet',
        resource: `https://api.example${path}`,
        extra: { name: 'USD Coin' },
      });
    }
  });

  it('can be read by a page of another origin, including its headers', async () => {
    const { url } = await start(routes, { SIGNED_PAYMENTS: 'true' });
    const response = await fetch(`${url}/api/weather`, { headers: { Origin: 'https://shop.example' } });
    const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
    expect(exposed).toEqual(
      expect.arrayContaining([
        'payment-required',
        'www-authenticate',
        'payment-response',
        'x-payment-response',
        'payment-receipt',
      ]),
    );
    expect(response.headers.get('payment-required')).not.toBeNull();
    const preflight = await fetch(`${url}/api/weather`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'access-control-expose-headers,payment-signature',
      },
    });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        'access-control-expose-headers',
        'payment-signature',
        'x-payment',
        'authorization',
        'payment-authorization',
      ]),
    );
  });
});

describe('the head of a 402', () => {
  const Host = `${'h'.repeat(253)}:65535`;
  const Origin = `https://${'o'.repeat(63)}.example`;
  const priced = ['payment-required', 'www-authenticate'];

  /** The head of an answer to a page of another origin, whose request names the longest host and id. */
  async function readHead(path: string, headers: Record<string, string>): Promise<string> {
    const asked = { Host, Origin, 'X-Request-Id': 'i'.repeat(128), ...headers };
    const lines = Object.entries(asked).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.end(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    const [head = ''] = (await text(socket)).split('\r\n\r\n');
    return `${head}\r\n\r\n`;
  }

  it.each([
    ['to a browser', { Accept: 'text/html' }],
    ['of a refused payment', { 'X-Payment': 'no' }],
  ])('has at most the bytes that are reckoned with, and 8 KiB: %s', async (_, headers) => {
    const route = createRoute(() => answerJson({}), { path: '/v/*', revisitSeconds: 60 });
    await start([route], { SIGNED_PAYMENTS: 'true', ALLOW_INSECURE_HTTP: 'true', CORS_ORIGINS: Origin });
    const head = await readHead('/v/x', headers);
    expect(head).toMatch(/^HTTP\/1.1 402 /);
    const sent = head.split('\r\n').map((line) => /^([^:]+): (.*)$/.exec(line) ?? []);
    const ofChallenge = sent
      .filter(([, name = '']) => priced.includes(name.toLowerCase()))
      .flatMap(([, ...header]) => header);
    const room = headBytesOf(ofChallenge) - head.length;
    expect(room).toBeGreaterThanOrEqual(0);
    expect(room).toBeLessThan(800);
    expect((await readHead(`/v/${'x'.repeat(1000)}`, headers)).slice(0, 13)).toBe('HTTP/1.1 414 ');
  });
});

describe('CHALLENGE_FORM=v1-clients', () => {
  it.each([
    ['PUBLIC_URL', {}],
    ['31337', { PUBLIC_URL: 'https://api.example', CHAIN_ID: '31337' }],
  ])('refuses to start without what x402 v1 clients need: %s', async (named, env) => {
    await expect(startGateway(redis.url, routes, { CHALLENGE_FORM: 'v1-clients', ...env })).rejects.toThrow(named);
  });
});
