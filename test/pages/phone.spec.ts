import type { Page, Route } from 'playwright-core';

import { usePages } from './use-pages.js';
import { createVisitor, keptBy, statusOf, type Visitor } from './visitor.js';

const pages = usePages();
let urls = 0;
const newUrl = () => `/v1/notes/${(urls += 1)}?of=phone`;
const PAID = 'Paid. Here is your answer.';

async function showCode(desktop: Visitor, url = newUrl()): Promise<{ page: Page; ticket: string }> {
  const page = await desktop.open(url);
  await page.click('summary:has-text("Pay with your phone")');
  const ticket = (await page.textContent('#code code')) ?? '';
  expect(await page.textContent('#code > :first-child')).toContain('Your phone cannot reach 127.0.0.1');
  await statusOf(page, 'Waiting for your phone');
  return { page, ticket };
}

async function payBy(phone: Visitor, ticket: string): Promise<Page> {
  const page = await phone.open(ticket);
  await page.click('button:has-text("Send with")');
  await statusOf(page, 'Sent. The other screen goes on');
  return page;
}

describe('a phone that pays for the desktop', () => {
  it('sends a locked transfer, and the answer appears on the desktop alone', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages(), { viewport: { width: 360, height: 640 }, isMobile: true });
    const { page, ticket } = await showCode(desktop);
    const mobile = await payBy(phone, ticket);
    await page.bringToFront();
    await statusOf(page, PAID);
    const answer = (await page.textContent('#answer pre')) ?? '';
    expect(answer).toContain('"path"');
    expect(await mobile.textContent('body')).not.toContain('"path"');
    const [, reference = ''] = /"reference":"([^"]+)"/.exec((await keptBy(page)).replaceAll('\\"', '"')) ?? [];
    expect(reference).toMatch(/^chain-/);
    expect(await mobile.content()).not.toContain(reference);
    expect(await keptBy(mobile)).not.toContain('chain-');
    // Neither reference nor proof is in any address, title or log line.
    expect([page.url(), await page.title(), mobile.url(), await mobile.title()].join()).not.toContain(reference);
    expect(pages().stack.logs()).not.toContain(reference);
    expect([...desktop.faults, ...phone.faults]).toEqual([]);
    await desktop.context.close();
    await phone.context.close();
  });

  it('may be one of two with one ticket: the first payment buys the answer', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phones = [await createVisitor(pages()), await createVisitor(pages())];
    const { page, ticket } = await showCode(desktop);
    await Promise.all(phones.map((phone) => payBy(phone, ticket)));
    await page.bringToFront();
    await statusOf(page, PAID);
    expect(pages().upstream.requests).toHaveLength(1);
    for (const { context } of [desktop, ...phones]) await context.close();
  });

  it('is not held up by false reports of a stranger with the ticket', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { page, ticket } = await showCode(desktop);
    const report = (txHash: string) =>
      fetch(ticket, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ txHash }),
      });
    for (const digit of ['1', '2', '3']) expect((await report(`0x${digit.repeat(64)}`)).status).toBe(202);
    await payBy(phone, ticket);
    await page.bringToFront();
    await statusOf(page, PAID);
    await desktop.context.close();
    await phone.context.close();
  });

  it('pays also while the desktop is closed', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const url = newUrl();
    const { page, ticket } = await showCode(desktop, url);
    await page.close();
    await payBy(phone, ticket);
    await statusOf(await desktop.open(url), PAID);
    await desktop.context.close();
    await phone.context.close();
  });

  it('is waited for, however often calldata was shown meanwhile', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { page, ticket } = await showCode(desktop);
    for (let load = 0; load < 6; load += 1) {
      await page.reload();
      await page.click('summary:has-text("Pay by hand")');
      await page.waitForSelector('#manual[open]');
    }
    await payBy(phone, ticket);
    await page.bringToFront();
    await statusOf(page, PAID);
    await desktop.context.close();
    await phone.context.close();
  });

  it('pays once with a ticket, and says so when its wallet refuses', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { ticket } = await showCode(desktop);
    phone.wallet.refuse('eth_sendTransaction', 4001);
    const page = await phone.open(ticket);
    await page.click('button:has-text("Send with")');
    expect(await statusOf(page, 'declined')).toContain('Nothing was paid.');
    phone.wallet.handlers.clear();
    await page.click('button:has-text("Send with")');
    await statusOf(page, 'Sent.');
    expect(await page.locator('button:has-text("Send with")').count()).toBe(0);
    await desktop.context.close();
    await phone.context.close();
  });

  it('sends nothing again after a reload, and reports what it sent', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { page, ticket } = await showCode(desktop);
    // The report is lost with the page.
    await phone.context.route('**/pay/*', (route) =>
      route.request().method() === 'POST' ? undefined : route.continue(),
    );
    const mobile = await phone.open(ticket);
    await mobile.click('button:has-text("Send with")');
    await mobile.waitForSelector('#actions:has-text("Transaction: ")');
    await phone.context.unroute('**/pay/*');
    await mobile.reload();
    await statusOf(mobile, 'Sent.');
    expect(await mobile.locator('button').allTextContents()).toEqual(['It was cancelled: send again']);
    await page.bringToFront();
    await statusOf(page, PAID);
    expect(phone.wallet.countOf('eth_sendTransaction')).toBe(1);
    await desktop.context.close();
    await phone.context.close();
  });

  it('asks before it sends again where its wallet failed without saying whether it paid', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { ticket } = await showCode(desktop);
    phone.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
      await forward();
      throw Object.assign(new Error('the connection was lost'), { code: -32000 });
    });
    const mobile = await phone.open(ticket);
    await mobile.click('button:has-text("Send with")');
    await statusOf(mobile, 'the connection was lost');
    const buttons = mobile.locator('#actions button');
    expect(await buttons.allTextContents()).toEqual(['I did not pay: send again']);
    await mobile.reload();
    await statusOf(mobile, 'You began to pay at');
    expect(await buttons.allTextContents()).toEqual(['I did not pay: send again']);
    phone.wallet.handlers.clear();
    await buttons.click();
    await mobile.click('button:has-text("Send with")');
    await statusOf(mobile, 'Sent.');
    await desktop.context.close();
    await phone.context.close();
  });

  it('is offered another code when the first has expired, which a reload alone would not show', async () => {
    const desktop = await createVisitor(pages());
    await desktop.context.clock.install();
    const { page } = await showCode(desktop);
    await page.clock.fastForward('02:00:00');
    await page.waitForSelector('#phone', { state: 'hidden' });
    await page.click('button:has-text("The phone did not pay: begin anew")');
    await page.click('summary:has-text("Pay with your phone")');
    await page.waitForSelector('#code canvas');
    await desktop.context.close();
  });

  it('can send again what was cancelled in its wallet', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    const { page, ticket } = await showCode(desktop);
    phone.wallet.handlers.set('eth_sendTransaction', () => `0x${'4'.repeat(64)}`);
    const mobile = await payBy(phone, ticket);
    phone.wallet.handlers.clear();
    await mobile.click('button:has-text("It was cancelled: send again")');
    await mobile.click('button:has-text("Send with")');
    await page.bringToFront();
    await statusOf(page, PAID);
    await desktop.context.close();
    await phone.context.close();
  });

  it('is waited for by a page whose wallet can be opened meanwhile', async () => {
    const desktop = await createVisitor(pages());
    const phone = await createVisitor(pages());
    const { page, ticket } = await showCode(desktop);
    await page.waitForSelector('button:has-text("The phone did not pay: begin anew")');
    let isHeld = (_route: Route): void => undefined;
    const held = new Promise<Route>((resolve) => (isHeld = resolve));
    // The attempt with the phone's hash.
    await page.route('**/v1/notes/**', (route) => isHeld(route), { times: 1 });
    await payBy(phone, ticket);
    await page.bringToFront();
    const route = await held;
    desktop.wallet.refuse('eth_requestAccounts', 4001);
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, 'declined');
    await route.continue();
    await statusOf(page, PAID);
    await desktop.context.close();
    await phone.context.close();
  });

  it('is shown no code by a page that is too old to pay with', async () => {
    const desktop = await createVisitor(pages());
    await desktop.context.clock.install();
    const page = await desktop.open(newUrl());
    await page.clock.fastForward('02:00:00');
    await page.click('summary:has-text("Pay with your phone")');
    await statusOf(page, 'This page is too old to pay with. Reload it.');
    expect(await keptBy(page)).toBe('[]');
    await desktop.context.close();
  });

  it('is told where to get a new code when its own has expired', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const phone = await createVisitor(pages());
    await phone.context.clock.install();
    const { ticket } = await showCode(desktop);
    const mobile = await phone.open(ticket);
    await mobile.clock.fastForward('02:00:00');
    await mobile.waitForSelector('#calldata:has-text("Show a new code on the other screen.")', { state: 'attached' });
    await desktop.context.close();
    await phone.context.close();
  });

  it('is offered the browser of a wallet app where it has no wallet', async () => {
    const desktop = await createVisitor(pages(), { hasNoWallet: true });
    const { ticket, page } = await showCode(desktop);
    await page.goto(ticket);
    const link = await page.getAttribute('#actions a', 'href');
    expect(link).toBe(`https://metamask.app.link/dapp/${ticket.replace(/^https?:\/\//, '')}`);
    expect(desktop.faults).toEqual([]);
    await desktop.context.close();
  });
});
