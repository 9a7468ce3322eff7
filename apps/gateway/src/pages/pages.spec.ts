import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import {
  answerJson,
  createRoute,
  send,
  startGateway,
  type RunningGateway,
  startAgreeingVerifier,
} from '../../test/start-gateway.js';
import { PaywallConnections } from '../paywall/paywall.module.js';

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&`;
const routes = [
  createRoute(() => answerJson('sold')),
  createRoute(() => answerJson('sold'), { path: '/files/*', description: HOSTILE, mimeType: HOSTILE }),
  createRoute(() => answerJson('sold'), { path: '/orders', methods: ['POST'], description: 'An order' }),
  createRoute(() => answerJson('sold'), { path: '/words', isMetered: true }),
];
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-dest': 'document' };

let redis: BorrowedRedis;
let stopVerifier: () => Promise<void>;
let gateway: RunningGateway;
const folder = mkdtempSync(join(tmpdir(), 'pages-'));

beforeAll(async () => {
  redis = await borrowRedis();
  stopVerifier = await startAgreeingVerifier(redis.url);
  gateway = await startGateway(redis.url, routes, {
    SIGNED_PAYMENTS: 'true',
    EXPLORER_URL: 'https://explorer.example/',
  });
});
afterAll(async () => {
  await gateway.stop();
  await stopVerifier();
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(gateway.port, { path, headers, method });

/** Starts a gateway of its own for one look. */
async function withGateway<T>(
  env: Record<string, string>,
  look: (one: RunningGateway) => Promise<T>,
  sold = routes,
): Promise<T> {
  const one = await startGateway(redis.url, sold, env);
  try {
    return await look(one);
  } finally {
    await one.stop();
  }
}

describe('the page of a priced route', () => {
  it('has the status and the headers of the JSON', async () => {
    const [json, page] = [await get('/api/weather'), await get('/api/weather', BROWSER)];
    expect([json.status, page.status]).toEqual([402, 402]);
    const names = (headers: object) =>
      Object.keys(headers)
        .filter((name) => !/^content-|referrer-policy|x-content-type/.test(name))
        .sort();
    expect(names(page.headers)).toEqual(names(json.headers));
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect([json.headers['vary'], page.headers['vary'], page.headers['cache-control']]).toEqual([
      'Accept',
      'Accept',
      'no-store',
    ]);
    expect(page.headers['payment-required']).toBeTruthy();
  });

  it('leaves the JSON of everybody else as it is without pages, but for `Vary`', async () => {
    const withoutReference = ({ body, headers }: Awaited<ReturnType<typeof send>>) => [
      body.replace(/chain-\d{13}-[0-9a-z]+/, 'reference'),
      Object.keys(headers).filter((name) => name !== 'vary'),
    ];
    const off = await withGateway({ PAGES: 'false', SIGNED_PAYMENTS: 'true' }, async ({ port }) => [
      await send(port, { path: '/api/weather' }),
      await send(port, { path: '/api/weather', headers: BROWSER }),
      await send(port, { path: '/' }),
    ]);
    expect(off.map(({ status, headers }) => [status, headers['vary']])).toEqual([
      [402, undefined],
      [402, undefined],
      [404, undefined],
    ]);
    const on = await get('/api/weather');
    for (const one of off.slice(0, 2)) expect(withoutReference(on)).toEqual(withoutReference(one));
  });

  it('is for documents alone, and `Vary` for every GET and HEAD', async () => {
    const frame = await get('/api/weather', { ...BROWSER, 'sec-fetch-dest': 'iframe' });
    expect([frame.status, frame.headers['content-type']]).toEqual([402, 'application/json; charset=utf-8']);
    const head = await get('/api/weather', BROWSER, 'HEAD');
    expect([head.status, head.body, head.headers['vary']]).toEqual([402, '', 'Accept']);
    const post = await get('/orders', BROWSER, 'POST');
    expect([post.status, post.headers['content-type'], post.headers['vary']]).toEqual([
      402,
      'application/json; charset=utf-8',
      undefined,
    ]);
  });

  it('lets itself load its own script, and nothing else', async () => {
    const { headers, body } = await get('/api/weather', BROWSER);
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^script-src 'sha256-[\w+/=]+'$/),
      expect.stringMatching(/^style-src 'sha256-[\w+/=]+'$/),
      "img-src 'self' data: blob:",
      "connect-src 'self'",
      "frame-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect([headers['referrer-policy'], headers['x-content-type-options']]).toEqual(['no-referrer', 'nosniff']);
    const [, path = '', hash = ''] = /<script src="([^"]+)" integrity="([^"]+)" defer>/.exec(body) ?? [];
    expect(policy[1]).toContain(hash);
    const script = await fetch(gateway.url + path);
    expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    const digest = await crypto.subtle.digest('SHA-256', await script.arrayBuffer());
    expect(`sha256-${Buffer.from(digest).toString('base64')}`).toBe(hash);
  });

  it('has at most 25 KB gzipped in all, QR code included', async () => {
    const { body } = await get('/api/weather', BROWSER);
    const [, path = ''] = /<script src="([^"]+)"/.exec(body) ?? [];
    const script = Buffer.from(await (await fetch(gateway.url + path)).arrayBuffer());
    expect(gzipSync(body).length + gzipSync(script).length).toBeLessThanOrEqual(25_000);
  });

  it('escapes what comes from outside, wherever it shows it', async () => {
    const { body } = await get(`/files/${encodeURIComponent(`<b>'"&`)}?q="><img/src=x></script>`, BROWSER);
    expect(body).not.toContain('<img');
    expect(body).not.toContain('<b>');
    expect(body).toContain('q=&quot;&gt;&lt;img/src=x&gt;&lt;/script&gt;');
    expect(body).not.toContain('<script>alert');
    expect(body.match(/<script/g)).toHaveLength(2);
    expect(body).toContain('&lt;/script&gt;&lt;script&gt;alert(1)');
    const [, data = ''] = /<script type="application\/json" id="page-data">([^<]*)<\/script>/.exec(body) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      kind: 'pay',
      base: '',
      options: [{ amountBaseUnits: '1000', signs: true }],
    });
  });

  it('offers the transfer alone while no signature would be taken', async () => {
    const { agreement } = gateway.app.get(PaywallConnections).options.list[0]!;
    agreement.takesAuthorizations = false;
    try {
      const { body, headers } = await get('/api/weather', BROWSER);
      expect(body).toContain('"signs":false');
      expect(headers['payment-required']).toBeUndefined();
      expect((await get('/', BROWSER)).body).not.toContain('@x402/fetch');
    } finally {
      agreement.takesAuthorizations = true;
    }
    expect((await get('/', BROWSER)).body).toContain('@x402/fetch');
  });

  it('shows what is paid, to whom and where, with the commands to pay by hand', async () => {
    const { body } = await get('/API/weather/?a=1&b=2', BROWSER);
    for (const text of [
      '0.001 USDC',
      '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
      'chain 1328',
      '0xa9059cbb',
      '3430324c',
    ]) {
      expect(body).toContain(text);
    }
    expect(body).toContain(`&#39;http://127.0.0.1:${gateway.port}/api/weather/?a=1&amp;b=2&#39;`);
    const [, reference = ''] = /"reference":"([^"]+)"/.exec(body) ?? [];
    expect(/<title>(.*)<\/title>/.exec(body)?.[1]).toBe('Pay &#8211; Tollgate');
    expect(body.split('<script')[0]).not.toContain(`/${reference}`);
  });

  it('names the whole request that is bought, in a box of its own where it is long', async () => {
    const shown = async (query: string) =>
      /<dt>For<\/dt><dd>(.*?) \(/.exec((await get(`/api/weather?${query}`, BROWSER)).body)?.[1];
    expect(await shown('city=S%20F&q=%E2%80%AEevil&a')).toBe(
      '<code>GET /api/weather?city=S%20F&amp;q=%E2%80%AEevil&amp;a</code>',
    );
    const long = 'x'.repeat(9_000);
    expect(await shown(long)).toBe(
      `<pre tabindex="0" role="region" aria-label="Request">GET /api/weather?${long}</pre>`,
    );
  });

  it('says of a metered price that it is the most that is paid', async () => {
    const { body } = await get('/words', BROWSER);
    expect(body).toContain('<h1 id="title">Pay at most 0.001 USDC</h1>');
    expect(body).toContain('<dt>Total</dt><dd>at most 0.001 USDC</dd>');
    expect((await get('/api/weather', BROWSER)).body).not.toContain('at most');
  });

  it('finds its files below the path of PUBLIC_URL', async () => {
    const body = await withGateway(
      { PUBLIC_URL: 'https://api.example/gate/' },
      async ({ port }) => (await send(port, { path: '/api/weather', headers: BROWSER })).body,
    );
    expect(body).toMatch(/<script src="\/gate\/pay\/assets\/pay-/);
    expect(body).toContain('"ticketUrl":"/gate/pay/');
    expect(body).toContain('https://api.example/gate/api/weather');
  });
});

describe('the page of an error', () => {
  const hostile = `/nowhere/${encodeURIComponent(HOSTILE)}`;
  it.each([
    ['GET', `${hostile}?q=<script>`, 404, 'There is nothing at this address', '<a href="/">What is sold here</a>'],
    ['GET', '/orders?a=1', 405, 'A browser cannot open this address', 'curl -X POST -i &#39;http://'],
    ['GET', '/pay', 405, 'A browser cannot open this address', 'This path answers POST, OPTIONS.'],
    ['POST', '/api/weather', 405, 'Method Not Allowed', 'This path answers GET, HEAD, OPTIONS.'],
    ['GET', '/files/%2e%2e', 400, 'Bad Request', 'path_invalid'],
    ['GET', `/${'%zz'}`, 400, 'Bad Request', 'bad_request'],
  ])(
    '%s %s (%i) is small, and has the status and the headers of the JSON',
    async (method, path, status, title, text) => {
      const [page, json] = [await get(path, BROWSER, method), await get(path, {}, method)];
      expect([page.status, json.status, page.headers.allow]).toEqual([status, status, json.headers.allow]);
      expect(json.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect([page.headers['cache-control'], page.headers['x-request-id']]).toEqual(['no-store', expect.any(String)]);
      expect(page.headers['content-security-policy']).toContain("script-src 'none'");
      expect(page.body).toContain(`<h1>${title}</h1>`);
      expect(page.body).toContain(text);
      expect(page.body).not.toMatch(/<script|<img/);
    },
  );

  it('tells what a path costs that only programs can ask for', async () => {
    const { body } = await get('/orders', BROWSER);
    for (const text of ['<code>POST /orders</code>', '0.001 USDC', 'An order']) expect(body).toContain(text);
    expect(body).not.toContain('/api/weather');
  });
});

it('every page has an icon: the logo, or one of its own', async () => {
  const icons = await Promise.all(
    ['/', '/api/weather', '/nowhere', '/docs'].map(async (path) => {
      const { body } = await get(path, BROWSER);
      return /<link rel="icon" href="data:image\/svg\+xml,%3Csvg[^"<>]+"( \/)?>/.test(body);
    }),
  );
  expect(icons).toEqual([true, true, true, true]);
});

describe('the page of the HTTP API', () => {
  it('finds its files below the path of PUBLIC_URL', async () => {
    const [page, start] = await withGateway({ PUBLIC_URL: 'https://api.example/gate/' }, async ({ port }) => [
      await send(port, { path: '/docs' }),
      await send(port, { path: '/docs/start.js' }),
    ]);
    const paths = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
    expect(paths).toEqual(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'].map((file) => `/gate/docs/${file}`));
    expect(start.body).toContain('url: "/gate/docs/openapi.json"');
  });

  it('has a page of its own for operations, and none for a facilitator that is not served', async () => {
    const read = async (name: string) => {
      const { status, body } = await get(`/docs/${name}/openapi.json`);
      return status === 200 ? Object.keys((JSON.parse(body) as { paths: object }).paths) : status;
    };
    expect((await get('/docs/operations')).body).toContain('src="/docs/operations/start.js"');
    expect((await get('/docs/operations/start.js')).body).toContain('url: "/docs/operations/openapi.json"');
    expect(await read('operations')).toEqual(['/health/live', '/health/ready', '/metrics']);
    expect(await read('facilitator')).toBe(404);
  });

  it('is shown in no frame of another page, which could lead people to type an API key', async () => {
    const { headers, body } = await get('/docs');
    expect(body).toContain('src="/docs/start.js"');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(expect.arrayContaining(["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"]));
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('the front page and llms.txt', () => {
  it('list what is sold, at which price, and how to pay', async () => {
    const front = await get('/');
    expect([front.status, front.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(front.body).toContain('<a href="/api/weather">');
    expect(front.body).not.toContain('<a href="/files/');
    expect(front.body).toContain('An order (for programs)');
    expect(front.body).not.toContain('<script');
    expect(front.headers['content-security-policy']).toContain("script-src 'none'");
    const llms = await get('/llms.txt');
    expect(llms.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(llms.body).toContain(`\`GET http://127.0.0.1:${gateway.port}/api/weather\`: 0.001 USDC. The weather`);
    for (const body of [front.body, llms.body]) {
      for (const way of ['curl', '@tollgate/client', '@x402/fetch', 'agent']) expect(body).toContain(way);
    }
  });

  it.each<[path: string, methods: string[], commands: string[]]>([
    [
      '/v1/quotes/:symbol',
      ['GET', 'POST'],
      ["curl -i 'ORIGIN/v1/quotes/SYMBOL'", "await pay('ORIGIN/v1/quotes/SYMBOL')"],
    ],
    ['/files/*', ['GET'], ["curl -i 'ORIGIN/files/PATH'"]],
    ['/orders', ['POST'], ["curl -X POST -i 'ORIGIN/orders'", "await pay('ORIGIN/orders', { method: 'POST' })"]],
  ])('have commands for the first route, %s', async (path, methods, commands) => {
    const sold = [createRoute(() => answerJson('sold'), { path, methods }), routes[0]!];
    await withGateway(
      {},
      async ({ url }) => {
        const text = await (await fetch(`${url}/llms.txt`)).text();
        for (const command of commands) expect(text).toContain(command.replaceAll('ORIGIN', url));
        expect(text).not.toContain(`'${url}/api/weather'`);
        const { paths } = (await (await fetch(`${url}/docs/openapi.json`)).json()) as { paths: object };
        expect(Object.keys(paths).slice(0, 2).at(-1)).toBe('/api/weather');
      },
      sold,
    );
  });

  it('say so where nothing is sold', async () => {
    await withGateway(
      {},
      async ({ url }) => {
        const [front, llms] = [await (await fetch(url)).text(), await (await fetch(`${url}/llms.txt`)).text()];
        for (const text of [front, llms]) {
          expect(text).toContain('Nothing is sold here');
          expect(text).not.toContain('curl');
        }
        expect((await (await fetch(`${url}/docs/openapi.json`)).text()).includes('/api/weather')).toBe(false);
      },
      [],
    );
  });

  it('do not name clients that sign where nothing settles signatures', async () => {
    const body = await withGateway({}, async ({ url }) => (await fetch(`${url}/llms.txt`)).text());
    expect(body).not.toContain('@x402/fetch');
  });

  it("are not served where a seller's route has their path", async () => {
    const own = ['/', '/*'].map((path) => createRoute(() => answerJson('sold'), { path }));
    await withGateway(
      {},
      async ({ port }) => {
        for (const path of ['/', '/llms.txt', '/pay/x', '/anything']) {
          const { status, headers } = await send(port, { path, headers: BROWSER });
          expect([path, status, headers['content-type']]).toEqual([path, 402, 'application/json; charset=utf-8']);
        }
      },
      own,
    );
  });
});

describe('the brand', () => {
  const logo = join(folder, 'logo.svg');
  const write = (content: string | Buffer) => writeFileSync(logo, content);

  it('is shown escaped, with its logo from this gateway', async () => {
    write('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    await withGateway({ BRAND_NAME: HOSTILE.slice(0, 60), BRAND_LOGO: logo }, async ({ url, port }) => {
      const { body } = await send(port, { path: '/api/weather', headers: BROWSER });
      expect(body).toContain('&lt;/script&gt;');
      expect(body).toMatch(/<link rel="icon" href="\/pay\/assets\/logo-[0-9a-f]+\.svg">/);
      const [, path = ''] = /<img src="(\/pay\/assets\/logo-[0-9a-f]+\.svg)" alt="">/.exec(body) ?? [];
      const image = await fetch(url + path);
      expect(image.headers.get('content-type')).toBe('image/svg+xml');
      expect(image.headers.get('content-security-policy')).toContain('sandbox');
      const docs = (await send(port, { path: '/docs' })).body;
      expect(docs).toContain(`<link rel="icon" href="${path}" />`);
      expect(docs).toMatch(/<title>[^<]*&lt;\/script&gt;[^<]*<\/title>/);
    });
  });

  it.each<[string, string | Buffer, string]>([
    ['no image', '<html><svg>', 'is no PNG, JPEG, WebP or SVG image'],
    ['too large', Buffer.alloc(100_001), 'at most 100000'],
  ])('refuses to start with a logo that is %s', async (_name, content, reason) => {
    write(content);
    await expect(startGateway(redis.url, routes, { BRAND_LOGO: logo })).rejects.toThrow(reason);
  });

  it('refuses to start with a logo that is not there, or a name with a line break', async () => {
    const gone = startGateway(redis.url, routes, { BRAND_LOGO: join(folder, 'gone.png') });
    await expect(gone).rejects.toThrow('cannot be read (ENOENT)');
    await expect(startGateway(redis.url, routes, { BRAND_NAME: 'a\nb' })).rejects.toThrow('BRAND_NAME');
  });
});

describe('the test wallet', () => {
  const wallet = join(folder, 'test-wallet.js');
  let node: Server;
  let version: unknown = 'anvil/v1.7.1';
  let rpcUrl = '';

  beforeAll(async () => {
    writeFileSync(wallet, '/* wallet */');
    node = createServer((_request, response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: version })),
    );
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  });
  afterAll(() => node.close());

  it('is in the page of a gateway on loopback whose node is anvil, and in no other', async () => {
    version = 'anvil/v1.7.1';
    await withGateway({ TEST_WALLET: wallet, WALLET_RPC_URL: rpcUrl }, async ({ port, url }) => {
      const { body, headers } = await send(port, { path: '/api/weather', headers: BROWSER });
      const [, path = ''] =
        /<script src="(\/pay\/assets\/test-wallet-[^"]+)" integrity="[^"]+" defer data-rpc="http/.exec(body) ?? [];
      expect(await (await fetch(url + path)).text()).toBe('/* wallet */');
      expect(headers['content-security-policy']).toContain(`connect-src 'self' ${rpcUrl};`);
    });
    expect((await get('/api/weather', BROWSER)).body).not.toContain('test-wallet');
  });

  it.each<[string, Record<string, string>, unknown, string]>([
    ['listens on every interface', { HOST: '0.0.0.0' }, 'anvil/v1.7.1', 'HOST must be a loopback address'],
    ['listens on a private address', { HOST: '10.0.0.7' }, 'anvil/v1.7.1', 'HOST must be a loopback address'],
    [
      'names a node elsewhere',
      { WALLET_RPC_URL: 'https://rpc.example' },
      'anvil/v1.7.1',
      'must be on a loopback address',
    ],
    ['has another node', {}, 'Geth/v1.16.0', 'the node at WALLET_RPC_URL is Geth/v1.16.0'],
    ['has a node that says nothing', {}, null, 'is unknown'],
    ['has no file', { TEST_WALLET: '/nowhere/wallet.js' }, 'anvil/v1.7.1', 'cannot be read (ENOENT)'],
  ])('keeps a gateway from starting that %s', async (_name, env, answered, reason) => {
    version = answered;
    const started = startGateway(redis.url, routes, { TEST_WALLET: wallet, WALLET_RPC_URL: rpcUrl, ...env });
    await expect(started).rejects.toThrow(reason);
  });

  it('keeps a gateway from starting without a node, or with one that does not answer', async () => {
    await expect(startGateway(redis.url, routes, { TEST_WALLET: wallet })).rejects.toThrow(
      'TEST_WALLET needs WALLET_RPC_URL',
    );
    const deaf = startGateway(redis.url, routes, { TEST_WALLET: wallet, WALLET_RPC_URL: 'http://127.0.0.1:1' });
    await expect(deaf).rejects.toThrow('is not answering');
  });
});

it('compresses its script for browsers that take it', async () => {
  const { body } = await get('/api/weather', BROWSER);
  const [, path = ''] = /<script src="([^"]+)"/.exec(body) ?? [];
  const packed = await fetch(gateway.url + path, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  const plain = await fetch(gateway.url + path, { headers: { 'Accept-Encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(await packed.text()).toBe(await plain.text());
});
