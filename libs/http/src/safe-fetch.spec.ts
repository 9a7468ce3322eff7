import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { startDnsServer, type DnsServer } from '../test/dns-server.js';
import { assertPublicTarget } from './resolve-target.js';
import { createSafeFetch, type SafeFetch, type SafeFetchOptions } from './safe-fetch.js';

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

const TOO_LONG = { cause: { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' } };

interface Heard {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

describe('a fetch for untrusted URLs', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  let heard: Heard[];
  let connections: number;

  beforeEach(() => {
    heard = [];
    connections = 0;
  });

  afterEach(async () => {
    for (const end of cleanUp.splice(0)) await end();
    for (const name of PROXIES) delete process.env[name];
  });

  async function listen(server: Server): Promise<string> {
    server.on('connection', () => connections++);
    server.on('clientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const serve = async (answer: RequestListener): Promise<string> => {
    const server = createServer((request, response) => {
      heard.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
      answer(request, response);
    });
    return `http://${await listen(server)}`;
  };

  const create = (changes: Partial<SafeFetchOptions> = {}): SafeFetch['fetch'] => {
    const safe = createSafeFetch({ allowPrivateTargets: true, timeoutMs: 10_000, maxResponseBytes: 1_000, ...changes });
    cleanUp.push(() => safe.close());
    return safe.fetch;
  };

  const resolveTo = async (addresses: () => string[]): Promise<DnsServer> => {
    const dns = await startDnsServer((_, type) => (type === 'A' ? addresses() : []));
    cleanUp.push(() => dns.close());
    return dns;
  };

  it('sends and receives like fetch', async () => {
    const url = await serve((_, response) => response.writeHead(201, { 'x-own': 'yes' }).end('made'));
    const response = await create()(`${url}/a`, { method: 'POST', body: 'text', headers: { 'x-proof': 'p' } });
    expect([response.status, response.headers.get('x-own'), await response.text()]).toEqual([201, 'yes', 'made']);
    expect(heard).toMatchObject([
      { method: 'POST', path: '/a', headers: { 'x-proof': 'p', 'content-length': '4', 'accept-encoding': 'identity' } },
    ]);
  });

  describe('where private targets are not allowed', () => {
    it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost'])('refuses %s', async (host) => {
      const { port } = new URL(await serve((_, response) => response.end('inside')));
      const safe = create({ allowPrivateTargets: false });
      await expect(safe(`https://${host}:${port}/`)).rejects.toMatchObject({ code: 'private_target' });
      await expect(safe(`http://8.8.8.8:${port}/`)).rejects.toMatchObject({ code: 'insecure_url' });
      expect(connections).toBe(0);
    });

    it('refuses a host name that resolves to a private address, without a connection', async () => {
      const { port } = new URL(await serve((_, response) => response.end('inside')));
      const dns = await resolveTo(() => ['8.8.8.8', '127.0.0.1']);
      const safe = create({ allowPrivateTargets: false, nameServers: [dns.address] });
      await expect(safe(`https://shop.example:${port}/`)).rejects.toMatchObject({ code: 'private_target' });
      expect(connections).toBe(0);
    });

    it('refuses a host name whose address was public when checked and is private when connected to', async () => {
      const { port } = new URL(await serve((_, response) => response.end('inside')));
      let lookUps = 0;
      const dns = await resolveTo(() => [lookUps++ === 0 ? '8.8.8.8' : '127.0.0.1']);
      const rules = { allowPrivateTargets: false, nameServers: [dns.address] };
      const url = `https://rebinding.example:${port}/`;
      await assertPublicTarget(url, rules);
      await expect(create(rules)(url)).rejects.toMatchObject({ code: 'private_target' });
      expect(connections).toBe(0);
    });
  });

  it('connects to the address that it checked: a host name is looked up once per connection', async () => {
    const { port } = new URL(await serve((_, response) => response.end('found')));
    const dns = await resolveTo(() => ['127.0.0.1']);
    const response = await create({ nameServers: [dns.address] })(`http://shop.example:${port}/`);
    expect(await response.text()).toBe('found');
    expect(dns.asked).toEqual(['shop.example', 'shop.example']);
  });

  it('fails if the name server has no address', async () => {
    const dns = await resolveTo(() => []);
    await expect(create({ nameServers: [dns.address] })('http://shop.example/')).rejects.toMatchObject({
      cause: { code: 'ENOTFOUND' },
    });
  });

  it('rejects a certificate from an unknown authority', async () => {
    const [cert, key] = ['cert', 'key'].map((part) => readFileSync(`test/certificates/localhost.${part}.pem`));
    const host = await listen(createTlsServer({ cert: cert!, key: key! }, (_, response) => response.end('inside')));
    await expect(create()(`https://${host}/`)).rejects.toMatchObject({
      cause: { code: expect.stringMatching(/CERT/) },
    });
  });

  it('ignores proxies from the environment', async () => {
    const proxy = await serve((_, response) => response.end('from the proxy'));
    const url = await serve((_, response) => response.end('from the server'));
    for (const name of PROXIES) process.env[name] = proxy;
    expect(await (await create()(url)).text()).toBe('from the server');
  });

  describe('redirects', () => {
    const SECRET = { 'x-payment': 'proof', authorization: 'Bearer b', cookie: 'c=1', 'idempotency-key': 'k' };
    const redirectTo = (location: string) => serve((_, response) => response.writeHead(302, { location }).end());

    it('are followed, with every header inside the origin', async () => {
      const url = await serve(({ url }, response) => {
        if (url === '/new') response.end('here');
        else response.writeHead(307, { location: '/new' }).end();
      });
      const response = await create()(`${url}/old`, { headers: SECRET });
      expect(await response.text()).toBe('here');
      expect(heard.map(({ path }) => path)).toEqual(['/old', '/new']);
      expect(heard[1]!.headers).toMatchObject(SECRET);
    });

    it('carry no proof and no credentials to another origin, nor back', async () => {
      const { port } = new URL(
        await serve(({ url, headers }, response) => {
          if (url === '/old')
            response.writeHead(302, { location: `http://localhost:${headers.host?.split(':')[1]}/b` });
          if (url === '/b') response.writeHead(302, { location: `http://127.0.0.1:${headers.host?.split(':')[1]}/c` });
          response.end();
        }),
      );
      const headers = { ...SECRET, accept: 'text/plain' };
      expect((await create()(`http://127.0.0.1:${port}/old`, { headers })).status).toBe(200);
      expect(heard.map(({ path }) => path)).toEqual(['/old', '/b', '/c']);
      for (const request of heard.slice(1)) {
        expect(request.headers).toMatchObject({ accept: 'text/plain' });
        for (const name of Object.keys(SECRET)) expect(request.headers).not.toHaveProperty(name);
      }
    });

    it.each([
      ['a password', 'http://user:password@127.0.0.1/', 'malformed_url'],
      ['another scheme', 'file:///etc/passwd', 'malformed_url'],
      ['text that is not a URL', 'http://[', 'malformed_url'],
    ])('to %s are refused', async (_, location, code) => {
      await expect(create()(await redirectTo(location))).rejects.toMatchObject({ code });
    });

    it('end', async () => {
      const url = await redirectTo('/again');
      await expect(create({ maxRedirects: 2 })(url)).rejects.toMatchObject({ code: 'too_many_redirects' });
      expect(heard).toHaveLength(3);
    });

    it('are not followed for methods other than GET and HEAD', async () => {
      const url = await redirectTo('/other');
      await expect(create()(url, { method: 'POST' })).rejects.toMatchObject({ code: 'too_many_redirects' });
      expect(heard).toHaveLength(1);
    });

    it('are returned to a caller that asks for them', async () => {
      const response = await create()(await redirectTo('http://169.254.169.254/'), { redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([302, 'http://169.254.169.254/']);
      expect(heard).toHaveLength(1);
    });
  });

  describe('answers', () => {
    it('fail above the size limit, with or without a content-length', async () => {
      const said = await serve((_, response) => response.end('x'.repeat(1_001)));
      await expect((await create()(said)).text()).rejects.toMatchObject(TOO_LONG);
      const unsaid = await serve((_, response) => {
        response.write('x'.repeat(600));
        response.end('x'.repeat(600));
      });
      await expect((await create()(unsaid)).text()).rejects.toMatchObject(TOO_LONG);
      const fitting = await serve((_, response) => response.end('x'.repeat(1_000)));
      expect(await (await create()(fitting)).text()).toHaveLength(1_000);
    });

    it('with endless headers fail', async () => {
      const url = await serve((_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end());
      await expect(create()(url)).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_OVERFLOW' } });
    });

    it('fail at the deadline if they never begin', async () => {
      const url = await serve(() => undefined);
      await expect(create({ timeoutMs: 100 })(url)).rejects.toMatchObject({ name: 'TimeoutError' });
    });

    it('fail at the deadline if they never end, even if each byte is in time', async () => {
      const url = await serve((_, response) => {
        const timer = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(timer));
      });
      const reading = create({ timeoutMs: 300 })(url).then((response) => response.text());
      await expect(reading).rejects.toMatchObject({ name: 'TimeoutError' });
    });

    it("are aborted by the caller's signal", async () => {
      const stop = new AbortController();
      const url = await serve((_, response) => {
        response.write('begun');
        stop.abort(new Error('enough'));
      });
      await expect(create()(url, { signal: stop.signal }).then((response) => response.text())).rejects.toThrow(
        /enough/,
      );
      await expect(create()(url, { signal: stop.signal })).rejects.toThrow(/enough/);
    });

    it.each(['gzip', 'deflate', 'br', 'GZIP, identity'])('in %s are refused unread', async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(10_000_000));
      const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb));
      const safe = create({ maxResponseBytes: 100_000 });
      await expect(safe(url)).rejects.toMatchObject({ code: 'encoded_answer' });
    });
  });

  it('rejects a Request, whose own options it would ignore', async () => {
    await expect(create()(new Request('http://127.0.0.1/'))).rejects.toThrow(TypeError);
  });

  it('aborts requests in flight when it is closed', async () => {
    const url = await serve((_, response) => response.write('begun'));
    const safe = createSafeFetch({ allowPrivateTargets: true, timeoutMs: 10_000, maxResponseBytes: 1_000 });
    const reading = (await safe.fetch(url)).text();
    await safe.close();
    await expect(reading).rejects.toThrow(/terminated/);
  });
});
