import type { Page } from 'playwright-core';

import { usePages } from './use-pages.js';
import { createVisitor, keptBy, statusOf, type Visitor } from './visitor.js';

const pages = usePages();
let urls = 0;
const newUrl = (path = 'notes') => `/v1/${path}/${(urls += 1)}?of=failed`;
const PAID = 'Paid. Here is your answer.';
const SEND = 'button:has-text("Send a transfer instead")';
const MOST_FAILURES = 5;

/** The seller fails until the returned function is called. */
function breakSeller(status = 500): () => void {
  const { upstream } = pages();
  const { answer } = upstream;
  upstream.answer = (_request, response) => response.writeHead(status).end('broken');
  return () => (upstream.answer = answer);
}

/** The payment of the one kept purchase, as a header. */
async function readProof(page: Page): Promise<Record<string, string>> {
  const [[, text]] = JSON.parse(await keptBy(page)) as [[string, string]];
  const [{ proof }] = JSON.parse(text) as [{ proof: { name: string; value: string } }];
  return { [proof.name]: proof.value };
}

/** As if the pause after the seller's last failure were over. */
async function endPause(page: Page): Promise<void> {
  await page.evaluate(
    `for (const [key, text] of Object.entries(localStorage))
       localStorage.setItem(key, JSON.stringify(JSON.parse(text).map((one) => ({ ...one, retryAtMs: 0 }))));`,
  );
}

/** By a reload: a pause may have ended between earlier ones, and the page then waits for a click. */
async function expectServedOnce(page: Page, { wallet }: Visitor): Promise<void> {
  await endPause(page);
  await page.reload();
  await statusOf(page, PAID);
  expect(wallet.countOf('eth_sendTransaction')).toBe(1);
}

describe('a seller that fails', () => {
  it('does not use up the payment by reloads', async () => {
    const visitor = await createVisitor(pages());
    const mend = breakSeller();
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await statusOf(page, 'stays valid');
    for (let load = 0; load <= MOST_FAILURES; load += 1) {
      await page.reload();
      await statusOf(page, 'stays valid');
    }
    mend();
    await expectServedOnce(page, visitor);
    await visitor.context.close();
  });

  it('does not use up the payment by two tabs', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const mend = breakSeller();
    const tabs = [await visitor.open(url), await visitor.open(url)];
    await tabs[0]!.bringToFront();
    await tabs[0]!.click(SEND);
    for (const tab of tabs) await statusOf(tab, 'stays valid');
    for (let load = 0; load < MOST_FAILURES; load += 1) {
      await Promise.all(tabs.map((tab) => tab.reload()));
      for (const tab of tabs) await statusOf(tab, 'stays valid');
    }
    mend();
    await endPause(tabs[0]!);
    await Promise.all(tabs.map((tab) => tab.reload()));
    for (const tab of tabs) await statusOf(tab, PAID);
    await visitor.context.close();
  });

  it('says at the fifth failure that there is no other attempt', async () => {
    const visitor = await createVisitor(pages());
    breakSeller();
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    let text = await statusOf(page, 'stays valid');
    while (!text.includes('five times')) {
      await endPause(page);
      await page.reload();
      text = await statusOf(page, /stays valid|The seller has failed five times for this payment/);
    }
    expect(text).toContain('recorded for a refund');
    expect(pages().upstream.requests).toHaveLength(MOST_FAILURES);
    await visitor.context.close();
  });

  it.each([
    [410, 'The seller answered 410. Your payment stays valid.'],
    [429, 'The seller is busy. Your payment stays valid.'],
  ])('with %i of its own is not taken for the gateway', async (status, expected) => {
    const visitor = await createVisitor(pages());
    const mend = breakSeller(status);
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await statusOf(page, expected);
    mend();
    await expectServedOnce(page, visitor);
    await visitor.context.close();
  });

  it('is said not to have been paid where only a signature was given, until the outcome is not known', async () => {
    const visitor = await createVisitor(pages());
    breakSeller(404);
    const page = await visitor.open(newUrl());
    await page.click('button:has-text("Pay with")');
    expect(await statusOf(page, 'answered 404')).toBe('Not charged: the seller answered 404.');
    expect(await page.textContent('#answer h2')).toBe('What the seller answered');
    breakSeller(500);
    await endPause(page);
    await page.click('button:has-text("Try again")');
    expect(await statusOf(page, 'status 500')).toContain('Nothing was charged.');
    await page.route('**/v1/notes/**', (route) =>
      route.request().headers()['payment-signature'] === undefined ? route.continue() : route.abort(),
    );
    await endPause(page);
    await page.reload();
    await statusOf(page, 'The gateway does not answer.');
    await page.unroute('**/v1/notes/**');
    const text = await statusOf(page, 'status 500');
    expect(text).toContain('stays valid');
    expect(text).not.toContain('charged');
    await visitor.context.close();
  });

  it('is not reached, which may happen any number of times', async () => {
    const visitor = await createVisitor(pages());
    let isSent = (): void => undefined;
    const page = await visitor.open(newUrl());
    // As the gateway answers when it cannot connect.
    await page.route('**/v1/notes/**', (route) => {
      if (route.request().headers()['x-payment'] === undefined) return route.continue();
      isSent();
      const body = JSON.stringify({ code: 'upstream_refused' });
      const headers = { 'X-Payment-Released': 'true', 'content-type': 'application/problem+json' };
      return route.fulfill({ status: 502, headers, body });
    });
    await page.click(SEND);
    await statusOf(page, 'The seller is not reached. Nothing is lost.');
    for (let attempt = 0; attempt < 2; attempt += 1) await new Promise<void>((resolve) => (isSent = resolve));
    expect(await keptBy(page)).not.toContain('retryAtMs');
    await page.unroute('**/v1/notes/**');
    await statusOf(page, PAID);
    await visitor.context.close();
  });

  it('after it was paid by a signature is not said to have cost nothing', async () => {
    const visitor = await createVisitor(pages());
    breakSeller();
    const page = await visitor.open(newUrl('before'));
    await page.click('button:has-text("Pay with")');
    await statusOf(page, 'stays valid');
    const headers = await readProof(page);
    let failure: string | null = null;
    while (failure === null) failure = (await fetch(page.url(), { headers })).headers.get('x-payment-failure');
    expect(failure).toBe('released_too_often');
    await endPause(page);
    await page.reload();
    const text = await statusOf(page, 'released_too_often');
    expect(text).not.toContain('Nothing was paid');
    expect(text).toContain('ask the operator');
    await visitor.context.close();
  });

  it('in the middle of an answer has been paid, and can be asked again', async () => {
    const visitor = await createVisitor(pages());
    const { answer } = pages().upstream;
    pages().upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('half of it', () => response.destroy());
    };
    const page = await visitor.open(newUrl('streams'));
    await page.click(SEND);
    await statusOf(page, 'You have paid. The answer broke off; try again.');
    pages().upstream.answer = answer;
    await page.click('button:has-text("Try again")');
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });
});
