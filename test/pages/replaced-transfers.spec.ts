import type { Route } from 'playwright-core';

import { usePages } from './use-pages.js';
import { createVisitor, statusOf, untilKept } from './visitor.js';

const pages = usePages();
let urls = 0;
const newUrl = () => `/v1/notes/${(urls += 1)}?of=replaced`;
const PAID = 'Paid. Here is your answer.';
const SEND = 'button:has-text("Send a transfer instead")';
/** A hash that no chain has. */
const UNMINED = `0x${'1'.repeat(64)}`;

/** A visitor whose wallet gives the page one hash, and sends the same call with another one. */
async function payReplaced() {
  const visitor = await createVisitor(pages());
  let isSent = (_hash: string): void => undefined;
  const sent = new Promise<string>((resolve) => (isSent = resolve));
  visitor.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
    isSent(String(await forward()));
    return UNMINED;
  });
  const page = await visitor.open(newUrl());
  await page.click(SEND);
  const txHash = await sent;
  await statusOf(page, 'The chain has not mined it yet.');
  return { visitor, page, txHash };
}

describe('a transfer that was replaced in the wallet', () => {
  it('is redeemed by its new hash, entered by hand while the page waits for the old one', async () => {
    const { visitor, page, txHash } = await payReplaced();
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', txHash);
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    expect([visitor.wallet.countOf('eth_sendTransaction'), pages().upstream.requests.length]).toEqual([1, 1]);
    // What is bought again is this purchase, not the one whose page took the hash.
    await page.click('button:has-text("Buy it again")');
    await page.waitForSelector(SEND);
    await visitor.context.close();
  });

  it('is redeemed by the hash that was entered last while the gateway had not answered', async () => {
    const { visitor, page, txHash } = await payReplaced();
    let isHeld = (_route: Route): void => undefined;
    const held = new Promise<Route>((resolve) => (isHeld = resolve));
    await page.route('**/v1/notes/**', (route) => isHeld(route), { times: 1 });
    const route = await held;
    await page.click('summary:has-text("Pay by hand")');
    for (const hash of [`0x${'2'.repeat(64)}`, txHash]) {
      await page.fill('#hash', hash);
      await page.press('#hash', 'Enter');
    }
    await route.continue();
    await statusOf(page, PAID);
    await visitor.context.close();
  });

  it('is redeemed by its new hash in one tab, and shown by the other, which waits for the old one', async () => {
    const { visitor, page, txHash } = await payReplaced();
    const second = await visitor.open(page.url());
    await statusOf(second, 'The chain has not mined it yet.');
    await second.click('summary:has-text("Pay by hand")');
    await second.fill('#hash', txHash);
    await second.press('#hash', 'Enter');
    await statusOf(second, PAID);
    await statusOf(page, PAID);
    expect([visitor.wallet.countOf('eth_sendTransaction'), pages().upstream.requests.length]).toEqual([1, 1]);
    await visitor.context.close();
  });

  it('is found on the chain after a reload', async () => {
    const { visitor, page } = await payReplaced();
    await page.reload();
    await page.click('button:has-text("Look for the payment")');
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });

  it('keeps its own hash when that of another transaction is entered', async () => {
    const { visitor, page, txHash } = await payReplaced();
    const other = await createVisitor(pages());
    const elsewhere = await other.open(newUrl());
    await elsewhere.click(SEND);
    await statusOf(elsewhere, PAID);
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', /0x[0-9a-f]{64}/.exec((await elsewhere.textContent('#receipt-transaction')) ?? '')![0]);
    await page.press('#hash', 'Enter');
    await statusOf(page, 'lock_mismatch');
    await page.click('button:has-text("Begin anew")');
    await statusOf(page, 'The chain has not mined it yet.');
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', txHash);
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    await visitor.context.close();
    await other.context.close();
  });

  it('by nothing can be begun anew, and a second payment buys the answer', async () => {
    const visitor = await createVisitor(pages());
    visitor.wallet.handlers.set('eth_sendTransaction', () => UNMINED);
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await statusOf(page, 'The chain has not mined it yet.');
    visitor.wallet.handlers.clear();
    await page.click('button:has-text("It was cancelled: begin anew")');
    await page.click(SEND);
    await statusOf(page, PAID);
    expect(pages().upstream.requests).toHaveLength(1);
    await visitor.context.close();
  });
});

describe('a transfer that the payer gave up', () => {
  it('is redeemed all the same when its hash is entered later', async () => {
    const visitor = await createVisitor(pages());
    const calls: unknown[] = [];
    visitor.wallet.handlers.set('eth_sendTransaction', ([call]) => {
      calls.push(call);
      return new Promise(() => undefined);
    });
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await untilKept(page);
    await page.reload();
    await page.click('button:has-text("I did not pay")');
    await page.waitForSelector(SEND);
    visitor.wallet.handlers.clear();
    const txHash = await visitor.wallet.request('eth_sendTransaction', calls);
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', String(txHash));
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    await visitor.context.close();
  });
});
