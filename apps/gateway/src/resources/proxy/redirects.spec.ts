import type { IncomingMessage, ServerResponse } from 'node:http';

import { startUpstream } from '../../../../../test/flows/start-upstream.js';
import { createOption } from '../../../test/create-option.js';
import { PaidPath } from '../../paywall/route/paid-path.js';
import { isCharged, type PaidRoute, type ProducedAnswer } from '../../paywall/route/paid-route.js';
import { parseRoutes } from '../routes-file/parse-routes.js';
import type { ProxyResource } from './proxy-resource.js';

const PUBLIC_URL = 'https://gate.example/shop';
/** `café` as an upstream sends it that does not encode it: its bytes, in a string as Node reads them. */
const UTF8 = Buffer.from('café').toString('latin1');

let upstream: Awaited<ReturnType<typeof startUpstream>>;
let routes: PaidRoute[];
/** What the upstream answers: its status, and alternating names and values of headers. */
let answers: (url: string) => readonly [status: number, ...headers: string[]];

const respond = (request: IncomingMessage, response: ServerResponse): void => {
  const [status, ...headers] = answers(request.url ?? '');
  response.writeHead(status, headers).end('body');
};

function load(url: string, publicUrl?: string): PaidRoute[] {
  const file = `routes:
  - { path: /items, price: "1", upstream: "${url}", methods: [GET, POST] }
  - { path: /v1/things/:id, price: "2", upstream: "${url}/internal", stripPrefix: /v1 }
  - { path: /last/:id, price: "3", upstream: "${url}/t/:id/usd" }
  - { path: /files/*, price: "4", upstream: "${url}/store", stripPrefix: /files }
  - { path: /orders, price: "5", upstream: "${url}", methods: [POST] }
  - { path: /named/:id, price: "6", upstream: "${url}", upstreamHeaders: { Host: API.example.net } }
`;
  return parseRoutes(file, {
    env: {},
    options: [createOption({ decimals: 6 })],
    maxStoredAnswerBytes: 1_000,
    sellsWeather: false,
    publicUrl,
  });
}

const close = (sold: readonly PaidRoute[]) =>
  Promise.all(sold.map(({ resource }) => (resource as ProxyResource).close()));

beforeAll(async () => {
  upstream = await startUpstream(respond);
  routes = load(upstream.url, PUBLIC_URL);
});

afterAll(async () => {
  await close(routes);
  await upstream.stop();
});

beforeEach(() => {
  upstream.requests.length = 0;
});

async function ask(target: string, method = 'GET', path = '/items', sold = routes): Promise<ProducedAnswer> {
  const route = sold.find((one) => one.path === path)!;
  const { canonical, sent } = PaidPath.parse(path).read(target)!;
  const request = {
    method,
    path: canonical,
    sent,
    query: target.split('?')[1] ?? '',
    headers: {},
    body: null,
    idempotencyKey: 'k',
    requestId: 'r',
    clientAddress: '203.0.113.9',
    verification: { isValid: true } as const,
    signal: new AbortController().signal,
  };
  return route.resource.produce(request);
}

const urlsAsked = () => upstream.requests.map(({ url }) => url);
const headerOf = ({ headers }: ProducedAnswer, name: string) =>
  headers.filter(([one]) => one === name).map(([, value]) => value);
const charges = (answer: ProducedAnswer, chargeOn: '<400' | '<500' = '<400') =>
  isCharged({ chargeOn } as PaidRoute, answer);

describe('a redirect of a GET to another spelling of its path', () => {
  it.each<[target: string, path: string, location: string, asked: string]>([
    ['/items?a=1', '/items', '/items/?a=1', '/items/?a=1'],
    ['/items/', '/items', './../items', '/items'],
    ['/items', '/items', 'ORIGIN/items/', '/items/'],
    ['/items', '/items', 'SECURE/items/', '/items/'],
    ['/items', '/items', 'https://gate.example/items/', '/items/'],
    ['/items', '/items', 'https://gate.example/shop/items/', '/items/'],
    ['/v1/things/a', '/v1/things/:id', 'https://gate.example/shop/v1/things/a/', '/internal/things/a/'],
    ['/v1/things/A', '/v1/things/:id', '/internal/things/a', '/internal/things/a'],
    ['/v1/things/a:b', '/v1/things/:id', '/internal/things/a%3Ab', '/internal/things/a%3Ab'],
    ['/v1/things/caf%C3%A9', '/v1/things/:id', `/internal/things/${UTF8}/`, '/internal/things/caf%C3%A9/'],
    ['/last/x', '/last/:id', '/t/x/usd/', '/t/x/usd/'],
    ['/named/x', '/named/:id', 'https://api.example.net/named/x/', '/named/x/'],
    ['/named/x', '/named/:id', 'ORIGIN/named/x/', '/named/x/'],
    ['/files/a/b', '/files/*', '/Store/a/B/', '/Store/a/B/'],
  ])('is followed: %s at %s, to %s', async (target, path, location, asked) => {
    const { host } = new URL(upstream.url);
    const where = location.replace('ORIGIN', upstream.url).replace('SECURE', `https://${host}`);
    answers = (url) => (url === asked ? [200] : [307, 'Location', where]);
    const answer = await ask(target, 'GET', path);
    expect([answer.status, charges(answer)]).toEqual([200, true]);
    expect(urlsAsked()).toHaveLength(2);
  });

  it.each([
    ['for ever', (url: string) => (url === '/items' ? '/items/' : '/items')],
    ['to the same', (url: string) => url],
    ['to the same by another scheme', (url: string) => `https://${new URL(upstream.url).host}${url}`],
    ['further and further', (url: string) => `${url}/`],
  ])('%s is a circle, which is left after two more requests at most', async (_, next) => {
    answers = (url) => [301, 'Location', next(url)];
    await expect(ask('/items')).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining('circle') });
    expect(upstream.requests.length).toBeLessThanOrEqual(3);
  });

  it('is told from another in one pass over both paths', async () => {
    const slashes = '/'.repeat(13_000);
    answers = () => [301, 'Location', `/store/b${slashes}x`];
    const before = process.cpuUsage();
    const moved = await ask(`/files/a${slashes}x`, 'GET', '/files/*');
    expect(headerOf(moved, 'location')).toEqual([`${PUBLIC_URL}/files/b${slashes}x`]);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  it('is not followed where the query differs, or where a slash is encoded', async () => {
    answers = () => [302, 'Location', '/items/?a=2'];
    expect(headerOf(await ask('/items?a=1'), 'location')).toEqual([`${PUBLIC_URL}/items/?a=2`]);
    answers = () => [302, 'Location', '/store/a%2Fb'];
    await expect(ask('/files/a/b', 'GET', '/files/*')).rejects.toMatchObject({ kind: 'failed' });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a redirect to another path inside', () => {
  it.each([301, 302, 303, 307, 308])('%d of a GET is not charged, and leads to the route', async (status) => {
    answers = () => [status, 'Location', '/internal/things/7?x=1#part'];
    const answer = await ask('/items');
    expect(answer).toMatchObject({ status, isMoved: true });
    expect([charges(answer), charges(answer, '<500')]).toEqual([false, false]);
    expect(headerOf(answer, 'location')).toEqual([`${PUBLIC_URL}/v1/things/7?x=1#part`]);
  });

  it.each([
    ['t/9/usd', '/shop/last/9'],
    ['/store/a//b/', '/shop/files/a//b/'],
    ['https://gate.example/store/a', '/shop/files/a'],
    ['https://gate.example/shop/files/a', '/shop/files/a'],
    ['https://gate.example/shop/v1/things/a%20b', '/shop/v1/things/a%20b'],
    [`/internal/things/${UTF8}`, '/shop/v1/things/caf%C3%A9'],
  ])('%s leads to %s', async (location, path) => {
    answers = () => [302, 'Location', location];
    expect(headerOf(await ask('/items'), 'location')).toEqual([`https://gate.example${path}`]);
  });

  // Prevents: an upstream that is asked for by a name redirects to that name, and the redirect is sold as leading to another host.
  it('by the name that the upstream is asked for leads to the route, if there is one', async () => {
    answers = () => [302, 'Location', 'http://api.example.net/named/y'];
    const moved = await ask('/named/x', 'GET', '/named/:id');
    expect([charges(moved), ...headerOf(moved, 'location')]).toEqual([false, `${PUBLIC_URL}/named/y`]);
    answers = () => [302, 'Location', 'http://api.example.net//elsewhere'];
    await expect(ask('/named/x', 'GET', '/named/:id')).rejects.toMatchObject({ kind: 'failed' });
  });

  it('is a path where PUBLIC_URL is not set', async () => {
    const sold = load(upstream.url);
    answers = () => [302, 'Location', '/internal/things/7'];
    expect(headerOf(await ask('/items', 'GET', '/items', sold), 'location')).toEqual(['/v1/things/7']);
    await close(sold);
  });

  it('is not charged for POST if the request is to be sent again', async () => {
    answers = () => [308, 'Location', '/orders'];
    const answer = await ask('/items', 'POST');
    expect([charges(answer), ...headerOf(answer, 'location')]).toEqual([false, `${PUBLIC_URL}/orders`]);
    answers = () => [307, 'Location', '/items/'];
    expect(headerOf(await ask('/items', 'POST'), 'location')).toEqual([`${PUBLIC_URL}/items/`]);
    expect(urlsAsked()).toEqual(['/items', '/items']);
  });

  it.each([
    ['GET', '/elsewhere'],
    ['GET', '/orders'],
    ['GET', 'https://gate.example/login'],
    ['GET', 'https://gate.example/shop'],
    ['GET', '/store/../secret'],
    ['GET', '/store/'],
    ['POST', '/internal/things/7'],
  ])('fails for %s to %s, which no route leads to', async (method, location) => {
    answers = () => [307, 'Location', location];
    await expect(ask('/items', method)).rejects.toMatchObject({ kind: 'failed', code: 'upstream_failed' });
  });

  it.each([
    'http://10.0.0.7/items',
    'http://127.0.0.1:1/items/',
    'http://[::1]/items',
    'http://[::ffff:192.168.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00::1]/',
    '//localhost/items',
    'http://backend/items',
    'http://api.internal./items',
    'http://printer.local',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://',
    'http://a b/',
  ])('fails to %s, which no client can reach, and asks nobody', async (location) => {
    for (const method of ['GET', 'POST']) {
      answers = () => [308, 'Location', location];
      await expect(ask('/items', method)).rejects.toMatchObject({ kind: 'failed', code: 'upstream_failed' });
    }
    expect(upstream.requests).toHaveLength(2);
  });

  it('fails without one place to go to', async () => {
    for (const headers of [[], ['Location', '/items/', 'Location', 'https://example.com/']]) {
      answers = () => [302, ...headers];
      await expect(ask('/items')).rejects.toMatchObject({ kind: 'failed' });
    }
  });
});

describe('an answer that refers to other URLs', () => {
  it('is charged where it leads to another public host', async () => {
    for (const [method, status] of [
      ['GET', 302],
      ['POST', 307],
    ] as const) {
      answers = () => [status, 'Location', 'https://cdn.example.com/a?sig=1'];
      const answer = await ask('/items', method);
      expect([charges(answer), ...headerOf(answer, 'location')]).toEqual([true, 'https://cdn.example.com/a?sig=1']);
    }
  });

  it.each([201, 301, 302, 303])('is charged if an unsafe request had its effect: %d', async (status) => {
    for (const [location, expected] of [
      ['/internal/things/7', [`${PUBLIC_URL}/v1/things/7`]],
      ['/elsewhere', []],
      ['http://10.0.0.7/orders/1', []],
    ] as const) {
      answers = () => [status, 'Location', location];
      const answer = await ask('/items', 'POST');
      expect([answer.status, charges(answer), headerOf(answer, 'location')]).toEqual([status, true, expected]);
    }
  });

  it('has those that a client can ask for', async () => {
    answers = () => [
      200,
      ...['Content-Location', '/internal/things/7', 'Refresh', '5; url="/elsewhere"', 'Refresh', '3;URL=/items?p=2'],
      ...['Link', '</items?p=2>; rel="next, or </items>", </elsewhere>; rel=x ,<https://example.com/>;rel=a'],
      ...['Link', '<http://10.0.0.1/>; rel=up', 'Link', '<urn:x>; rel=profile', 'Refresh', '9'],
      // A browser needs neither `url=` nor a separator, and forgives a quote that is not closed.
      ...['Refresh', '0; http://10.0.0.1/', 'Refresh', '0 http://10.0.0.1/', 'Refresh', `0;url='/items`],
      ...['Refresh', `0;url="http://10.0.0.1/`, 'Refresh', `0;http://10.0.0.1/a'b`],
    ];
    const answer = await ask('/items');
    expect(charges(answer)).toBe(true);
    expect(headerOf(answer, 'content-location')).toEqual([`${PUBLIC_URL}/v1/things/7`]);
    expect(headerOf(answer, 'refresh')).toEqual([`3;URL=${PUBLIC_URL}/items?p=2`, '9', `0;url='${PUBLIC_URL}/items'`]);
    expect(headerOf(answer, 'link')).toEqual([
      `<${PUBLIC_URL}/items?p=2>; rel="next, or </items>", <https://example.com/>;rel=a`,
      '<urn:x>; rel=profile',
    ]);
  });

  it.each([
    ...['<'.repeat(14_000), '<a>;"'.repeat(2_800), `<a>${'; x="\\'.repeat(2_000)}`, '<a>,'.repeat(3_500)],
    `0;url=${' '.repeat(14_000)}"x`,
  ])('is read in one pass, however many there are', async (value) => {
    const before = process.cpuUsage();
    for (const name of ['Link', 'Refresh']) {
      answers = () => [200, name, value];
      await ask('/items');
    }
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});
