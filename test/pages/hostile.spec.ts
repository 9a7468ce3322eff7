import { existsSync, readdirSync, readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';

import { HOSTILE, usePages } from './use-pages.js';
import { createVisitor, statusOf } from './visitor.js';

const pages = usePages();
const PAID = 'Paid. Here is your answer.';
/** Long enough for a frame to ask for what it names. */
const SETTLED_MS = 1_000;
const SEND = 'button:has-text("Send a transfer instead")';
const hacked = 'globalThis.hacked ?? null';

/** Pays for a page that the seller answers with this type and body. */
async function buy(type: string, body: string | Buffer, url: string) {
  pages().upstream.answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end(body);
  const visitor = await createVisitor(pages());
  const page = await visitor.open(url);
  await page.click(SEND);
  await statusOf(page, PAID);
  return { visitor, page };
}

/** Requests that were sent, or wait to be: those of the page itself left out, and those that a policy refused. */
async function strangeOf(page: Page): Promise<string[]> {
  const own = [page.url(), `${pages().stack.baseUrl}/pay/assets/`];
  return (await page.requests())
    .filter((request) => request.url().startsWith('http') && request.failure()?.errorText !== 'csp')
    .map((request) => request.url())
    .filter((url) => !own.some((start) => url.startsWith(start)));
}

describe('hostile text', () => {
  it('in description, URL, query and answer runs nowhere', async () => {
    const visitor = await createVisitor(pages());
    const path = `/v1/notes/${encodeURIComponent(HOSTILE.replaceAll('/', '').replaceAll('\\', ''))}`;
    const page = await visitor.open(`${path}?q=</script><script>window.hacked=1</script>#<img src=x onerror=hacked=1>`);
    expect(await page.textContent('main')).toContain('<script>window.hacked=1</script>');
    await page.click(SEND);
    await statusOf(page, PAID);
    expect(await page.textContent('#answer pre')).toContain('<img src=x onerror=window.hacked=1>');
    expect(await page.evaluate(hacked)).toBeNull();
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('in the name and icon of a wallet runs nowhere', async () => {
    const visitor = await createVisitor(pages(), { hasNoWallet: true });
    await visitor.context.addInitScript(`{
      const provider = { request: async () => { throw { code: 4001, message: '<img src=x onerror=hacked=1>' } } };
      const announce = (uuid, name, icon) => window.addEventListener('eip6963:requestProvider', () => setTimeout(() => {
        const event = new CustomEvent('eip6963:announceProvider', { detail: { info: { uuid, name, icon }, provider } });
        Object.defineProperty(event, 'stopImmediatePropagation', { value: () => undefined });
        window.dispatchEvent(event);
      }));
      announce('1', '<img src=x onerror=hacked=1>'.repeat(50), 'https://elsewhere.example/icon.png');
      announce('2', 'Second', 'javascript:hacked=1');
      announce('3', { toString: () => 'x' }, 'data:image/png;base64,AAAA');
    }`);
    const page = await visitor.open('/v1/notes/wallets');
    await page.waitForSelector('.wallet');
    expect(await page.locator('.wallet').count()).toBe(2);
    expect(await page.locator('.wallet img').count()).toBe(0);
    await page.locator('button.main').first().click();
    await statusOf(page, 'declined');
    expect(await page.evaluate(hacked)).toBeNull();
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });
});

describe('a sold page', () => {
  it('cannot read storage and cookies, run a script, or reach the page around it', async () => {
    const steal = `<!doctype html><h1 onclick="top.hacked=1">Sold</h1><form action="/pay" method="post"><button>go</button></form>
      <script>parent.hacked = 1; top.hacked = 1; localStorage.length; document.cookie;</script>
      <script src="/v1/notes/x.js"></script><img src="https://elsewhere.example/?c" onerror="top.hacked=1">
      <iframe src="https://elsewhere.example/"></iframe><meta http-equiv="refresh" content="0;url=https://elsewhere.example/">
      <a id="out" href="https://elsewhere.example/">out</a><a id="top" target="_top" href="/v1/notes/top">top</a>`;
    const { visitor, page } = await buy('text/html', steal, '/v1/notes/sold?kind=html');
    const frame = page.locator('#answer iframe');
    expect([await frame.getAttribute('sandbox'), await frame.getAttribute('src')]).toEqual([
      'allow-scripts',
      '/pay/assets/frame',
    ]);
    const sold = page.frameLocator('#answer iframe').frameLocator('iframe');
    await sold.locator('h1', { hasText: 'Sold' }).click();
    for (const part of ['button', '#top']) await sold.locator(part).click({ noWaitAfter: true });
    const [, outer, inner] = page.frames();
    const readOrigin = `[globalThis.origin, ...['localStorage', 'cookie'].map((name) => {
      try { return String(name === 'cookie' ? document.cookie : localStorage.length) } catch (error) { return error.name }
    })]`;
    for (const one of [outer, inner]) {
      expect(await one?.evaluate(readOrigin)).toEqual(['null', 'SecurityError', 'SecurityError']);
    }
    await sold.locator('#out').click({ noWaitAfter: true });
    await page.waitForTimeout(SETTLED_MS);
    expect(await strangeOf(page)).toEqual([]);
    expect(await page.evaluate(hacked)).toBeNull();
    expect(await outer?.evaluate(hacked)).toBeNull();
    expect(new URL(page.url()).pathname).toBe('/v1/notes/sold');
    expect(pages().upstream.requests).toHaveLength(1);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('is shown with its own styles and images, which load nothing from anywhere', async () => {
    const dot = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
    const own = pages().stack.baseUrl;
    const styled = `<!doctype html><style>
      @import url(https://elsewhere.example/a.css);
      @font-face { font-family: far; src: url(https://elsewhere.example/a.woff2) }
      h1 { color: rgb(1, 2, 3); font-family: far; background: url(https://elsewhere.example/b.png) }
      p { background: url(${own}/v1/notes/by-style) }</style>
      <link rel="stylesheet" href="https://elsewhere.example/c.css"><link rel="stylesheet" href="${own}/llms.txt">
      <h1>Grüße</h1><p style="color: rgb(4, 5, 6)">styled</p><img src="${dot}" alt="">`;
    const { visitor, page } = await buy('text/html; charset=utf-8', styled, '/v1/notes/styled');
    const sold = page.frameLocator('#answer iframe').frameLocator('iframe');
    await sold.locator('h1', { hasText: 'Grüße' }).waitFor();
    const inner = page.frames()[2];
    expect(
      await inner?.evaluate(`[...document.querySelectorAll('h1, p')].map((one) => getComputedStyle(one).color)`),
    ).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)']);
    expect(await inner?.evaluate('document.images[0].naturalWidth')).toBe(1);
    await page.waitForTimeout(SETTLED_MS);
    expect(await strangeOf(page)).toEqual([]);
    expect(pages().upstream.requests).toHaveLength(1);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('is not framed by a page of another host', async () => {
    const { headers } = await fetch(`${pages().stack.baseUrl}/pay/assets/frame`);
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "frame-ancestors 'self'", 'sandbox allow-scripts']),
    );
  });

  it.each<[string, string | Buffer, string]>([
    [
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg" onload="top.hacked=1"><script>top.hacked=1</script></svg>',
      'img',
    ],
    ['text/plain', HOSTILE, 'pre'],
    ['application/xml', `<a>${HOSTILE}</a>`, 'pre'],
    ['application/json', '{not json', 'pre'],
    ['application/octet-stream', Buffer.alloc(70_000, 1), 'p'],
    ['text/plain', 'x'.repeat(600_000), 'p'],
    ['', '', 'p'],
  ])('of type %s is shown as data', async (type, body, tag) => {
    const { visitor, page } = await buy(type, body, `/v1/notes/data?${encodeURIComponent(type)}${String(body).length}`);
    expect(await page.locator(`#answer-body > ${tag}`).count()).toBeGreaterThan(0);
    const save = page.locator('#answer a[download]');
    const href = await save.getAttribute('href');
    expect(await page.evaluate(`fetch(${JSON.stringify(href)}).catch(() => 'refused')`)).toBe('refused');
    expect(await page.evaluate(hacked)).toBeNull();
    // The policy refused the fetch above.
    expect(visitor.faults.filter((fault) => !fault.startsWith('policy: connect-src blob'))).toEqual([]);
    await visitor.context.close();
  });

  it('that streams is shown as it comes', async () => {
    pages().upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
      response.end(`data: ${HOSTILE}\n\n`);
    };
    const visitor = await createVisitor(pages());
    const page = await visitor.open('/v1/notes/stream');
    await page.click(SEND);
    await statusOf(page, PAID);
    expect(await page.textContent('#answer pre')).toMatch(/data: first\s+data: <\/script>/);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });
});

describe('the test wallet', () => {
  it('is in no build, and its source in no image', () => {
    const built = readdirSync('dist', { recursive: true }).map(String);
    expect(built.filter((file) => file.startsWith('apps/gateway/web/')).sort()).toEqual([
      'apps/gateway/web/frame.js',
      'apps/gateway/web/pages.css',
      'apps/gateway/web/pay.js',
    ]);
    expect(built.filter((file) => file.includes('test-wallet'))).toEqual([]);
    const uuid = '7c9d3c4e-3b0f-4a6e-9f0e-0d6f0c1e2a55';
    const source = 'tools/devnet/test-wallet/test-wallet.ts';
    expect(readFileSync(source, 'utf8')).toContain(uuid);
    const texts = built.filter((file) => /\.(c?js|css|map)$/.test(file) && existsSync(`dist/${file}`));
    expect(texts.filter((file) => readFileSync(`dist/${file}`, 'utf8').includes(uuid))).toEqual([]);
    expect(readFileSync('.dockerignore', 'utf8').split('\n')).toContain(source);
  });
});
