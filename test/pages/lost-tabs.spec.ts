import { readTransfersTo } from '../harness/payments/read-transfers.js';
import { usePages } from './use-pages.js';
import { createVisitor, keptBy, statusOf, untilKept } from './visitor.js';

const pages = usePages();
let urls = 0;
const newUrl = () => `/v1/notes/${(urls += 1)}?of=lost`;
const PAID = 'Paid. Here is your answer.';
const SEND = 'button:has-text("Send a transfer instead")';

async function countTransfers(): Promise<number> {
  const { chain } = pages().stack;
  return (await readTransfersTo(chain, chain.payTo, 0)).transfers.length;
}

describe('a payment', () => {
  it.each([
    ['signature', 'button:has-text("Pay with")'],
    ['transfer', SEND],
  ])('by %s is redeemed by another tab when its own is closed before the answer', async (_way, button) => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const before = await countTransfers();
    const page = await visitor.open(url);
    let isSent = (): void => undefined;
    const sent = new Promise<void>((resolve) => (isSent = resolve));
    // The request with the payment never leaves.
    await page.route('**/v1/notes/**', (route) => {
      const { 'x-payment': proof, 'payment-signature': signature } = route.request().headers();
      if (proof === undefined && signature === undefined) return route.continue();
      return isSent();
    });
    await page.click(button);
    await sent;
    await page.close();
    const again = await visitor.open(url);
    await statusOf(again, PAID);
    expect(await countTransfers()).toBe(before + 1);
    expect(pages().upstream.requests).toHaveLength(1);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('that was sent while its tab was closed is found on the chain', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const page = await visitor.open(url);
    const sent = visitor.wallet.sendSilently();
    await page.click(SEND);
    await sent;
    await page.close();
    const again = await visitor.open(url);
    await statusOf(again, 'You began to pay 0.01 USDC');
    await again.click('button:has-text("Look for the payment")');
    await statusOf(again, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });

  it.each(['the earlier', 'the shown'])('by hand is redeemed with the reference of %s page', async (which) => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const page = await visitor.open(url);
    const calls: unknown[] = [];
    visitor.wallet.handlers.set('eth_sendTransaction', ([call]) => {
      calls.push(call);
      return new Promise(() => undefined);
    });
    await page.click(SEND);
    await untilKept(page);
    await page.close();
    visitor.wallet.handlers.clear();
    const again = await visitor.open(url);
    await again.click('summary:has-text("Pay by hand")');
    const shown = { ...(calls[0] as object), data: (await again.textContent('#manual pre'))?.trim() };
    const txHash = await visitor.wallet.request('eth_sendTransaction', [which === 'the shown' ? shown : calls[0]]);
    await again.fill('#hash', String(txHash));
    await again.press('#hash', 'Enter');
    await statusOf(again, PAID);
    await visitor.context.close();
  });

  it('that no chain has is not found, and can be begun anew', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const page = await visitor.open(url);
    visitor.wallet.handlers.set('eth_sendTransaction', () => new Promise(() => undefined));
    await page.click(SEND);
    await untilKept(page);
    await page.close();
    const again = await visitor.open(url);
    await again.click('button:has-text("Look for the payment")');
    await statusOf(again, 'No payment was found');
    visitor.wallet.handlers.clear();
    await again.click('button:has-text("I did not pay")');
    await again.click(SEND);
    await statusOf(again, PAID);
    await visitor.context.close();
  });

  it.each([-32000, 4900])('whose wallet failed (%i) without saying whether it paid is not made twice', async (code) => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    visitor.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
      await forward();
      throw Object.assign(new Error('the connection was lost'), { code });
    });
    await page.click(SEND);
    expect(await statusOf(page, 'the connection was lost')).not.toContain('Nothing was paid');
    expect(await page.locator(SEND).count()).toBe(0);
    await page.click('button:has-text("Look for the payment")');
    await statusOf(page, PAID);
    await visitor.context.close();
  });

  it('is not repeated by reload, back and forward, and is by "Buy it again"', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await statusOf(page, PAID);
    const answer = await page.textContent('#answer pre');
    await page.reload();
    await statusOf(page, PAID);
    await page.goto(`${pages().stack.baseUrl}/`);
    await page.goBack();
    await statusOf(page, PAID);
    expect(await page.textContent('#answer pre')).toBe(answer);
    expect([pages().upstream.requests.length, visitor.wallet.countOf('eth_sendTransaction')]).toEqual([1, 1]);
    await page.click('button:has-text("Buy it again")');
    await page.click(SEND);
    await statusOf(page, PAID);
    expect(pages().upstream.requests).toHaveLength(2);
    await visitor.context.close();
  });

  it('is made once by two tabs', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const [one, two] = [await visitor.open(url), await visitor.open(url)];
    let answerWallet = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answerWallet = resolve));
    visitor.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
      await isAnswered;
      return forward();
    });
    await one.bringToFront();
    await one.click(SEND);
    await untilKept(one);
    // The other tab knows of the open wallet, and offers no second payment.
    await statusOf(two, 'Another tab of this browser is paying.');
    expect(await two.locator(SEND).count()).toBe(0);
    answerWallet();
    await statusOf(one, PAID);
    await statusOf(two, PAID);
    expect([visitor.wallet.countOf('eth_sendTransaction'), pages().upstream.requests.length]).toEqual([1, 1]);
    expect(await two.textContent('#answer pre')).toBe(await one.textContent('#answer pre'));
    await visitor.context.close();
  });

  it('can be looked for by another tab once the tab with the open wallet is closed', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const [one, two] = [await visitor.open(url), await visitor.open(url)];
    visitor.wallet.handlers.set('eth_sendTransaction', () => new Promise(() => undefined));
    await one.bringToFront();
    await one.click(SEND);
    await statusOf(two, 'Another tab of this browser is paying.');
    expect(await two.locator('#actions button').count()).toBe(0);
    await one.close();
    await statusOf(two, 'You began to pay');
    await two.waitForSelector('button:has-text("I did not pay")');
    await visitor.context.close();
  });

  it('whose wallet never answers is redeemed by its hash after a reload, and the page says so', async () => {
    const visitor = await createVisitor(pages());
    const sent = visitor.wallet.sendSilently();
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    const txHash = await sent;
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', txHash);
    await page.press('#hash', 'Enter');
    await statusOf(page, 'Your wallet has not answered yet. The hash is kept');
    await page.reload();
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });

  it('is not let go by a tab that has not heard yet that another one has redeemed it', async () => {
    const visitor = await createVisitor(pages());
    await visitor.context.addInitScript(
      `addEventListener('storage', (event) => event.stopImmediatePropagation(), true)`,
    );
    const url = newUrl();
    const sent = visitor.wallet.sendSilently();
    const one = await visitor.open(url);
    await one.click(SEND);
    await sent;
    await one.reload();
    await statusOf(one, 'You began to pay');
    const two = await visitor.open(url);
    await two.click('button:has-text("Look for the payment")');
    await statusOf(two, PAID);
    await one.click('button:has-text("I did not pay")');
    await statusOf(one, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });

  it('is bought again from both tabs when one of them forgets it', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const one = await visitor.open(url);
    await one.click(SEND);
    await statusOf(one, PAID);
    const two = await visitor.open(url);
    await statusOf(two, PAID);
    await one.bringToFront();
    await one.click('button:has-text("Buy it again")');
    await two.waitForSelector(SEND, { state: 'attached' });
    expect(await two.isVisible('#facts')).toBe(true);
    await visitor.context.close();
  });

  it('outlives a restart of the gateway between payment and answer', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    const [gateway] = pages().stack.gateways;
    visitor.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
      const hash = await forward();
      await gateway!.kill();
      return hash;
    });
    await page.click(SEND);
    await statusOf(page, 'The gateway does not answer. Waiting…');
    await gateway!.restart();
    await statusOf(page, PAID);
    expect(pages().upstream.requests).toHaveLength(1);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('outlives a seller that fails at first', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    const { answer } = pages().upstream;
    let fails = 1;
    pages().upstream.answer = (request, response) =>
      fails-- > 0 ? response.writeHead(500).end('broken') : answer(request, response);
    await page.click(SEND);
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(1);
    await visitor.context.close();
  });
});

describe('a purchase in storage', () => {
  it('is deleted after the receipt window, and ignored where it is damaged', async () => {
    const visitor = await createVisitor(pages());
    const url = newUrl();
    const page = await visitor.open(url);
    await page.click(SEND);
    await statusOf(page, PAID);
    await page.evaluate(
      `for (const [key, text] of Object.entries(localStorage)) {
         const old = JSON.parse(text).map((one) => ({ ...one, atMs: one.atMs - 86_401_000 }));
         localStorage.setItem(key, JSON.stringify(old));
         localStorage.setItem('tollgate:purchases:/damaged', '{"not":"a list"');
         localStorage.setItem('another', 'stays');
       }`,
    );
    await page.reload();
    await page.waitForSelector(SEND);
    expect(await keptBy(page)).toBe('[["another","stays"]]');
    await visitor.context.close();
  });

  it('is needed: where the browser keeps nothing, no wallet is opened', async () => {
    const visitor = await createVisitor(pages());
    await visitor.context.addInitScript(`Storage.prototype.setItem = () => { throw new Error('full'); }`);
    const page = await visitor.open(newUrl());
    await page.click(SEND);
    await statusOf(page, 'This browser keeps no data');
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(0);
    await visitor.context.close();
  });

  it('is not needed for a payment by hand, also where the browser refuses locks with all other data', async () => {
    const visitor = await createVisitor(pages());
    await visitor.context.addInitScript(`
      Storage.prototype.setItem = () => { throw new DOMException('blocked', 'SecurityError'); };
      for (const name of ['request', 'query'])
        LockManager.prototype[name] = () => Promise.reject(new DOMException('blocked', 'SecurityError'));`);
    const page = await visitor.open(newUrl());
    const { chain } = pages().stack;
    await page.click('summary:has-text("Pay by hand")');
    const data = (await page.textContent('#manual pre'))?.trim();
    const [from] = (await visitor.wallet.request('eth_requestAccounts', [])) as [string];
    const txHash = await visitor.wallet.request('eth_sendTransaction', [{ from, to: chain.asset, data }]);
    await page.fill('#hash', String(txHash));
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    await visitor.context.close();
  });
});
