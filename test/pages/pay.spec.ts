import { readTransfersTo } from '../harness/payments/read-transfers.js';
import { usePages } from './use-pages.js';
import { createVisitor, keptBy, statusOf, untilKept } from './visitor.js';

const pages = usePages();
let urls = 0;
const newUrl = () => `/v1/notes/${(urls += 1)}?of=pay`;
const PAID = 'Paid. Here is your answer.';

/** How many transfers of the price the recipient has got. */
async function countTransfers(): Promise<number> {
  const { chain } = pages().stack;
  return (await readTransfersTo(chain, chain.payTo, 0)).transfers.length;
}

describe('paying in a browser', () => {
  it('goes the whole way by clicks with the test wallet: one payment, a receipt, the same answer after a reload', async () => {
    const visitor = await createVisitor(pages(), { hasTestWallet: true });
    const page = await visitor.open('/');
    await page.click('a:has-text("/api/weather")');
    expect(await page.textContent('#facts')).toMatch(/0\.001 USDC[\s\S]*0x[\s\S]*0x[\s\S]*Test chain \(chain 1328\)/);
    await page.click('button:has-text("Pay with the test wallet")');
    await statusOf(page, PAID);
    expect(await page.textContent('h1')).toBe('Paid 0.001 USDC');
    expect(await page.getAttribute('#receipt a', 'href')).toMatch(/^http:\/\/127\.0\.0\.1:9\/tx\/0x[0-9a-f]{64}$/);
    const { accounts, payTo } = pages().stack.chain;
    const receipt = (await page.textContent('#receipt')) ?? '';
    for (const fact of ['GET /api/weather', payTo, accounts[0]!.address.toLowerCase(), 'Test chain (chain 1328)'])
      expect(receipt.toLowerCase()).toContain(fact.toLowerCase());
    expect(await page.textContent('#receipt-time')).toMatch(/ 20\d\d, .*(GMT|UTC)/);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('button:visible, summary:visible, footer:visible').count()).toBe(0);
    expect(await page.isVisible('#receipt')).toBe(true);
    await page.emulateMedia({ media: null });
    const answer = await page.textContent('#answer pre');
    expect(answer).toContain('"location": "San Francisco"');
    // Below all that was bought: a click there forgets the payment.
    expect(await page.locator('#receipt + #actions button').allTextContents()).toEqual(['Print', 'Buy it again']);
    await page.reload();
    await statusOf(page, PAID);
    expect(await page.textContent('#answer pre')).toBe(answer);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('sends a locked transfer with the wallet in `window.ethereum`, and shows the total before it opens', async () => {
    const visitor = await createVisitor(pages());
    const before = await countTransfers();
    const page = await visitor.open(newUrl());
    let shown = '';
    visitor.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => {
      shown = (await page.textContent('main')) ?? '';
      return forward();
    });
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, PAID);
    for (const text of ['0.01 USDC', pages().stack.chain.asset, pages().stack.chain.payTo])
      expect(shown).toContain(text);
    expect(await countTransfers()).toBe(before + 1);
    const sent = visitor.wallet.asked.find(({ method }) => method === 'eth_sendTransaction');
    expect(sent?.params[0]).toMatchObject({ chainId: '0x530' });
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('pays nothing and keeps nothing when the wallet refuses, and can pay afterwards', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    visitor.wallet.refuse('eth_sendTransaction', 4001);
    await page.click('button:has-text("Send a transfer instead")');
    expect(await statusOf(page, 'declined')).toBe('You declined in the wallet. Nothing was paid.');
    expect(await keptBy(page)).toBe('[]');
    visitor.wallet.refuse('eth_requestAccounts', 4001);
    await page.click('button:has-text("Pay with")');
    await statusOf(page, 'declined');
    visitor.wallet.handlers.clear();
    visitor.wallet.refuse('eth_signTypedData_v4', 4001);
    await page.click('button:has-text("Pay with")');
    await statusOf(page, 'declined');
    expect(await keptBy(page)).toBe('[]');
    visitor.wallet.handlers.clear();
    await page.click('button:has-text("Pay with")');
    await statusOf(page, PAID);
    expect(pages().upstream.requests).toHaveLength(1);
    await visitor.context.close();
  });

  it('says that a signature was rejected, and that nothing was paid', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    visitor.wallet.handlers.set('eth_signTypedData_v4', () => `0x${'11'.repeat(64)}1b`);
    await page.click('button:has-text("Pay with")');
    expect(await statusOf(page, 'refused')).toContain('Nothing was paid; you can begin anew.');
    visitor.wallet.handlers.clear();
    await page.click('button:has-text("Begin anew")');
    await page.click('button:has-text("Pay with")');
    await statusOf(page, PAID);
    await visitor.context.close();
  });

  it('switches a wallet that is on another chain', async () => {
    const visitor = await createVisitor(pages());
    let chainId = '0x1';
    visitor.wallet.handlers.set('eth_chainId', () => chainId);
    visitor.wallet.handlers.set('wallet_switchEthereumChain', ([wanted]) => {
      ({ chainId } = wanted as { chainId: string });
      return null;
    });
    const page = await visitor.open(newUrl());
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('wallet_switchEthereumChain')).toBe(1);
    await visitor.context.close();
  });

  it('adds the chain to a wallet that does not know it, with the facts of the 402', async () => {
    const visitor = await createVisitor(pages());
    let chainId = '0x1';
    visitor.wallet.handlers.set('eth_chainId', () => chainId);
    visitor.wallet.refuse('wallet_switchEthereumChain', 4902);
    visitor.wallet.handlers.set('wallet_addEthereumChain', () => {
      chainId = '0x530';
      return null;
    });
    const page = await visitor.open(newUrl());
    await page.click('button:has-text("Pay with")');
    await statusOf(page, PAID);
    const added = visitor.wallet.asked.find(({ method }) => method === 'wallet_addEthereumChain');
    expect(added?.params).toEqual([
      {
        chainId: '0x530',
        chainName: 'Test chain',
        nativeCurrency: { name: 'TST', symbol: 'TST', decimals: 18 },
        rpcUrls: [pages().stack.chain.rpcUrl],
        blockExplorerUrls: ['http://127.0.0.1:9'],
      },
    ]);
    await visitor.context.close();
  });

  it('opens no wallet on a chain that it will not leave', async () => {
    const visitor = await createVisitor(pages());
    visitor.wallet.handlers.set('eth_chainId', () => '0x1');
    visitor.wallet.handlers.set('wallet_switchEthereumChain', () => null);
    const page = await visitor.open(newUrl());
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, 'Switch it to Test chain (chain 1328)');
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(0);
    expect(await keptBy(page)).toBe('[]');
    await visitor.context.close();
  });

  it('takes the hash of a transaction that was sent by hand', async () => {
    const visitor = await createVisitor(pages(), { hasNoWallet: true });
    const page = await visitor.open(newUrl());
    await page.click('summary:has-text("Pay by hand")');
    const { chain } = pages().stack;
    const data = (await page.textContent('#manual pre')) ?? '';
    const payer = await createVisitor(pages());
    const txHash = await payer.wallet.request('eth_sendTransaction', [
      { from: chain.accounts[0]!.address, to: chain.asset, data: data.trim() },
    ]);
    await page.fill('#hash', 'not a hash');
    await page.click('button:has-text("Get the answer")');
    await statusOf(page, '0x and 64 hexadecimal digits');
    await page.fill('#hash', String(txHash));
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
    await payer.context.close();
  });

  it('takes the hash of a transaction that was sent by hand before a reload', async () => {
    const visitor = await createVisitor(pages());
    const page = await visitor.open(newUrl());
    await page.click('summary:has-text("Pay by hand")');
    await untilKept(page);
    const data = ((await page.textContent('#calldata')) ?? '').trim();
    await page.reload();
    // Calldata that was shown is no payment: the wallet is offered all the same.
    await page.waitForSelector('button:has-text("Pay with")');
    const { accounts, asset } = pages().stack.chain;
    const txHash = await visitor.wallet.request('eth_sendTransaction', [
      { from: accounts[0]!.address, to: asset, data },
    ]);
    await page.click('summary:has-text("Pay by hand")');
    await page.fill('#hash', String(txHash));
    await page.press('#hash', 'Enter');
    await statusOf(page, PAID);
    await visitor.context.close();
  });

  it('takes calldata away that is too old to pay with', async () => {
    const visitor = await createVisitor(pages());
    await visitor.context.clock.install();
    const page = await visitor.open(newUrl());
    await page.click('summary:has-text("Pay by hand")');
    expect(await page.textContent('#calldata')).toContain('0xa9059cbb');
    await page.clock.fastForward('02:00:00');
    await page.waitForSelector('#calldata:has-text("This has expired. Reload the page.")');
    await visitor.context.close();
  });

  it('says everything as text without JavaScript', async () => {
    const visitor = await createVisitor(pages(), { javaScriptEnabled: false });
    const page = await visitor.open(newUrl());
    expect(await page.textContent('noscript')).toContain('JavaScript is off');
    await page.click('summary:has-text("Pay by hand")');
    expect(await page.textContent('#manual')).toMatch(/0xa9059cbb[\s\S]*curl -H "X-Payment: /);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });
});
