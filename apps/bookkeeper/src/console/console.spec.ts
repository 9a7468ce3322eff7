import { request, type IncomingHttpHeaders } from 'node:http';

import { Logger } from '@nestjs/common';
import { ApiKeyStore } from '@tollgate/http';

import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: { code?: string; name?: string; detail?: string };
}

type Asked = { method?: string; body?: unknown; headers?: Record<string, string> };

let fixture: BookkeeperFixture;

beforeAll(async () => {
  Logger.overrideLogger(false);
  fixture = await BookkeeperFixture.start();
});

afterAll(() => fixture.stop());

describe('the console', () => {
  let bookkeeper: StartedBookkeeper;
  let token: string;

  beforeAll(async () => {
    token = await fixture.createToken('operator:read');
    bookkeeper = await fixture.startBookkeeper({ CONSOLE_HOSTS: 'console.example' });
    await waitFor('it is ready', async () => (await fetch(`${bookkeeper.url}/health/ready`)).status === 200);
  });

  /** With any header, which `fetch` would not send. */
  function ask(path: string, { method = 'GET', body, headers = {} }: Asked = {}): Promise<Answer> {
    const sent = body === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const call = request(`${bookkeeper.url}${path}`, { method, headers: { ...sent, ...headers } }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text,
            json: isJson ? JSON.parse(text) : {},
          });
        });
      });
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  const MARK = { 'x-tollgate-console': '1' };

  function logIn(key = token, headers: Record<string, string> = {}): Promise<Answer> {
    return ask('/console/session', { method: 'POST', body: { key }, headers: { ...MARK, ...headers } });
  }

  const cookieOf = ({ headers }: Answer): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';

  it('gives its document and its script to anyone, and nothing else', async () => {
    const page = await ask('/console');
    expect(page.status).toBe(200);
    const [, script = ''] = /<script src="([^"]+)"/.exec(page.text) ?? [];
    expect((await ask(script)).status).toBe(200);
    expect(page.headers['content-security-policy']).toContain(
      "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    for (const path of ['/console/assets/none.js', '/console/payments', '/console//operator/health']) {
      expect((await ask(path)).status).toBe(404);
    }
  });

  it('refuses the operator API without a session, also with an API key in a header', async () => {
    const { paths } = (await ask('/operator/openapi.json')).json as { paths: Record<string, Record<string, unknown>> };
    const own = Object.entries(paths).filter(([path]) => path.startsWith('/operator/'));
    const routes = own.flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    expect(routes.length).toBeGreaterThan(8);
    for (const [method, path] of [...routes, ['GET', '/operator/openapi.json'] as const]) {
      const headers = { ...MARK, authorization: `Bearer ${token}` };
      const answer = await ask(`/console${path}`, { method, headers });
      expect([path, answer.status, answer.json.code]).toEqual([path, 401, 'api_key_refused']);
    }
    expect((await ask('/console/session')).status).toBe(401);
  });

  it('logs in with a key, answers by the session, and ends it at the logout', async () => {
    const login = await logIn();
    expect([login.status, login.json.name]).toEqual([200, 'spec']);
    expect(login.headers['set-cookie']).toEqual([
      expect.stringMatching(/^tollgate_console=[\w-]{43}; Path=\/console; Max-Age=43200; HttpOnly; SameSite=Strict$/),
    ]);
    expect(login.text).not.toContain(token);
    const headers = { cookie: cookieOf(login) };
    expect((await ask('/console/session', { headers })).json.name).toBe('spec');
    expect((await ask('/console/operator/health', { headers })).status).toBe(200);
    expect((await ask('/console/operator/openapi.json', { headers })).status).toBe(200);
    // The cookie is for the console's paths alone.
    expect((await ask('/operator/health', { headers })).status).toBe(401);
    expect((await ask('/console/session', { method: 'DELETE', headers: { ...headers, ...MARK } })).status).toBe(204);
    expect((await ask('/console/operator/health', { headers })).status).toBe(401);
  });

  it('lets a session do what its key may, and nothing more', async () => {
    const headers = { ...MARK, cookie: cookieOf(await logIn()) };
    const close = await ask('/console/operator/closings', { method: 'POST', headers });
    expect([close.status, close.json.code]).toEqual([403, 'scope_missing']);
    expect((await logIn(await fixture.createToken('operator:wallets'))).json.code).toBe('scope_missing');
  });

  it('gives each login a new session, and takes over none that the browser brings', async () => {
    const fixed = 'tollgate_console=chosen-by-an-attacker';
    const first = await logIn(token, { cookie: fixed });
    expect(cookieOf(first)).not.toBe(fixed);
    expect((await ask('/console/operator/health', { headers: { cookie: fixed } })).status).toBe(401);
    const second = await logIn(token, { cookie: cookieOf(first) });
    expect(cookieOf(second)).not.toBe(cookieOf(first));
    expect((await ask('/console/operator/health', { headers: { cookie: cookieOf(first) } })).status).toBe(401);
    expect((await ask('/console/operator/health', { headers: { cookie: cookieOf(second) } })).status).toBe(200);
  });

  it('ends the oldest session of a key for the eleventh', async () => {
    const own = await fixture.createToken('operator:read');
    const cookies: string[] = [];
    for (let count = 0; count < 11; count++) cookies.push(cookieOf(await logIn(own)));
    const statuses = await Promise.all(
      cookies.map(async (cookie) => (await ask('/console/operator/health', { headers: { cookie } })).status),
    );
    expect(statuses).toEqual([401, ...Array.from({ length: 10 }, () => 200)]);
  });

  it('ends the sessions of a key that is revoked', async () => {
    const { key, token: own } = await new ApiKeyStore(fixture.redis).create({
      name: 'leaves',
      scopes: ['operator:read'],
      wallets: [],
    });
    const headers = { cookie: cookieOf(await logIn(own)) };
    expect((await ask('/console/operator/health', { headers })).status).toBe(200);
    await new ApiKeyStore(fixture.redis).revoke(key.id);
    expect((await ask('/console/operator/health', { headers })).status).toBe(401);
    expect((await ask('/console/session', { headers })).status).toBe(401);
    expect((await logIn(own)).status).toBe(401);
  });

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'console.example.evil', '0x7f.1.evil'])(
    'is not served under the host name "%s", whose DNS may lead here',
    async (host) => {
      const headers = { ...MARK, cookie: cookieOf(await logIn()) };
      for (const path of ['/console', '/console/session', '/console/operator/health']) {
        for (const name of [host, `${host}:${new URL(bookkeeper.url).port}`]) {
          const answer = await ask(path, { headers: { ...headers, host: name } });
          expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'origin_refused']);
        }
      }
    },
  );

  it.each(['localhost:4023', '127.0.0.1', '127.9.9.9:1', '[::1]:4023', 'console.example', 'CONSOLE.example:443'])(
    'is served under the host name %s',
    async (host) => {
      expect((await ask('/console', { headers: { host } })).status).toBe(200);
    },
  );

  it('takes a key off loopback over HTTPS alone, and keeps its cookie to HTTPS', async () => {
    const host = 'console.example';
    const plain = await logIn(token, { host, origin: `http://${host}` });
    expect([plain.status, plain.json.code]).toEqual([403, 'https_required']);
    const login = await logIn(token, { host, origin: `https://${host}` });
    expect(login.headers['set-cookie']?.[0]).toMatch(/; Secure$/);
  });

  it.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.example', ...MARK }],
    ['an opaque origin', { origin: 'null', ...MARK }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1', ...MARK }],
    ['a page that the browser calls foreign', { 'sec-fetch-site': 'cross-site', ...MARK }],
    ['a page of another port, as the browser calls it', { 'sec-fetch-site': 'same-site', ...MARK }],
    ['a form, which has no header of its own', {}],
  ])('refuses a write from %s', async (_from, headers) => {
    const cookie = cookieOf(await logIn());
    for (const [method, path] of [
      ['POST', '/console/operator/closings'],
      ['DELETE', '/console/session'],
      ['POST', '/console/session'],
    ] as const) {
      const body = method === 'POST' ? { key: token } : undefined;
      const answer = await ask(path, { method, body, headers: { cookie, ...headers } });
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'origin_refused']);
    }
    expect((await ask('/console/operator/health', { headers: { cookie } })).status).toBe(200);
  });

  it('refuses reads of another site, and can be opened by a link', async () => {
    const cookie = cookieOf(await logIn());
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await ask('/console/operator/exports/payments', { headers: foreign })).status).toBe(403);
    expect((await ask('/console/session', { headers: foreign })).status).toBe(403);
    expect((await ask('/console', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200);
  });

  it.each([{}, { key: 1 }, { key: '' }, { key: 'x'.repeat(201) }, { key: 'tgk_x', more: 1 }, [], 'text'])(
    'refuses the login %j',
    async (body) => {
      const answer = await ask('/console/session', { method: 'POST', body, headers: MARK });
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers['set-cookie']).toBeUndefined();
    },
  );
});

describe('the console of a bookkeeper that strangers reach', () => {
  const wrongKey = (number: number) => `tgk_aaaaaaaaaaaa_${String(number).padStart(43, 'x')}`;

  async function logIn(url: string, key: string, headers: Record<string, string> = {}): Promise<number> {
    const sent = { 'Content-Type': 'application/json', 'X-Tollgate-Console': '1', ...headers };
    return (await fetch(`${url}/console/session`, { method: 'POST', headers: sent, body: JSON.stringify({ key }) }))
      .status;
  }

  const from = (address: string) => ({ 'X-Forwarded-For': address });

  it('answers a guesser of keys with 429, whatever address it claims', async () => {
    const { url } = await fixture.startBookkeeper({ OPERATOR_REFUSED_KEYS_PER_MINUTE: '2' });
    const statuses = [];
    for (const number of [1, 2, 3]) statuses.push(await logIn(url, wrongKey(number), from(`1.1.1.${number}`)));
    expect(statuses).toEqual([401, 401, 429]);
  });

  it('lets an operator log in while a guesser comes through the same proxy', async () => {
    const limit = { OPERATOR_REFUSED_KEYS_PER_MINUTE: '1' };
    const { url } = await fixture.startBookkeeper({ ...limit, TRUST_PROXY: '127.0.0.1' });
    expect(await logIn(url, wrongKey(1), from('1.1.1.1'))).toBe(401);
    expect(await logIn(url, wrongKey(2), from('1.1.1.1'))).toBe(429);
    expect(await logIn(url, await fixture.createToken('operator:read'), from('2.2.2.2'))).toBe(200);
  });
});
