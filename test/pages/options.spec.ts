import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { startChain, type Devnet } from '../../tools/devnet/chain/chain.js';
import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startService, type ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { alignRelayers } from '../../tools/devnet/stack/adopt-wallets.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { waitFor } from '../harness/retry.js';
import { problemsOf } from './problems-of.js';
import { usePages, type Pages } from './use-pages.js';
import { createVisitor, statusOf, untilKept, type Visitor, type VisitorOptions } from './visitor.js';

const pages = usePages();
const PAID = 'Paid. Here is your answer.';
const FIRST = '0.01 USDC on First chain';
const SECOND = '0.01 USDC on Second chain';
const SECOND_ID = 31_338;
let urls = 0;
const newUrl = () => `/v1/notes/${(urls += 1)}?of=options`;

/** A gate that sells for USDC on two chains, each with a verifier of its own. */
describe('choosing in the browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'options-pages-'));
  let first: Devnet;
  let second: Devnet;
  let stack: Stack;
  let verifier: ServiceProcess;
  let shop: Pages;

  beforeAll(async () => {
    [first, second] = await Promise.all([startChain(), startChain({ chainId: SECOND_ID })]);
    const routes = join(folder, 'routes.yaml');
    writeFileSync(routes, `routes:\n  - { path: "/v1/notes/*", price: "0.01", upstream: "${pages().upstream.url}" }\n`);
    const payments = join(folder, 'payments.yaml');
    const chainOf = ({ rpcUrl, relayers }: Devnet, about: string): string =>
      `{ ${about}, rpc: '${rpcUrl}', relayers: '${relayers[0]!.privateKey}' }`;
    const optionOf = (chain: string, { asset, payTo }: Devnet): string =>
      `{ chain: ${chain}, token: '${asset}', decimals: 6, symbol: USDC, version: '2', payTo: '${payTo}' }`;
    writeFileSync(
      payments,
      `chains:
  first: ${chainOf(first, 'id: 1328, network: chain-testnet, title: First chain')}
  second: ${chainOf(second, `id: ${SECOND_ID}, network: other-testnet, title: Second chain`)}
accepts:
  usdc-first: ${optionOf('first', first)}
  usdc-second: ${optionOf('second', second)}
`,
    );
    const replaced = { RPC_URL: '', CHAIN_ID: '', ASSET_ADDRESS: '', PAY_TO: '', RELAYER_PRIVATE_KEYS: '' };
    const env = { ...replaced, PAYMENTS_FILE: payments, SIGNED_PAYMENTS: 'true', ROUTES_FILE: routes };
    stack = await startStack({ chain: first, env, serviceEnv: { verifier: { CHAIN: 'first' } } });
    const { PATH, HOME } = process.env;
    const redisUrl = stack.redis.url;
    await alignRelayers({ redisUrl, rpcUrl: second.rpcUrl, chainId: SECOND_ID, relayers: second.relayers.slice(0, 1) });
    const port = await findFreePort();
    const own = { CHAIN: 'second', VERIFIER_PORT: String(port), REDIS_URL: redisUrl, QUEUE_REDIS_URL: redisUrl };
    const url = `http://127.0.0.1:${port}`;
    verifier = await startService({
      app: 'verifier',
      name: 'verifier-second',
      url,
      env: { PATH, HOME, ...env, ...own },
    });
    shop = { ...pages(), stack };
    await waitFor('both chains are offered', async () => {
      const response = await fetch(`${stack.baseUrl}/v1/notes/0`);
      const header = Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString();
      return header.includes(`eip155:${SECOND_ID}`);
    });
  }, 240_000);

  afterAll(async () => {
    await verifier?.stop();
    await stack?.stop();
    await Promise.all([first?.stop(), second?.stop()]);
    rmSync(folder, { recursive: true });
  }, 120_000);

  /** A visitor whose wallet has both chains, and is on this one; connected if it has been asked for its account. */
  async function createTraveller(options: VisitorOptions & { on: Devnet; isConnected: boolean }): Promise<Visitor> {
    const { on, isConnected, ...others } = options;
    const visitor = await createVisitor(shop, others);
    const [account] = (await visitor.wallet.request('eth_requestAccounts', [])) as string[];
    const chains = [first, second];
    let current = on;
    const { handlers } = visitor.wallet;
    handlers.set('eth_accounts', () => (isConnected ? [account] : []));
    handlers.set('eth_chainId', () => `0x${current.chainId.toString(16)}`);
    handlers.set('wallet_switchEthereumChain', ([wanted]) => {
      const { chainId } = wanted as { chainId: string };
      current = chains.find((chain) => chain.chainId === Number(chainId))!;
      return null;
    });
    for (const method of [
      'eth_call',
      'eth_blockNumber',
      'eth_sendTransaction',
      'eth_getLogs',
      'eth_getTransactionByHash',
    ])
      handlers.set(method, (params) => callRpc(current.rpcUrl, method, params));
    handlers.set('eth_signTypedData_v4', ([from, text]) =>
      callRpc(current.rpcUrl, 'eth_signTypedData_v4', [from, JSON.parse(String(text))]),
    );
    visitor.wallet.asked.length = 0;
    return visitor;
  }

  const choose = (page: Page, option: string) => page.click(`#choice label:has-text("${option}")`);
  const isChosen = (page: Page, option: string) => page.isChecked(`#choice label:has-text("${option}") input`);

  it('begins with the first option, and follows the choice to title, facts, wallet, payment and receipt', async () => {
    const visitor = await createTraveller({ on: first, isConnected: false });
    const page = await visitor.open(newUrl());
    expect(await isChosen(page, FIRST)).toBe(true);
    expect(await page.textContent('h1')).toBe('Pay 0.01 USDC');
    expect(await page.locator('dl:visible').textContent()).toContain('First chain (chain 1328)');
    await choose(page, SECOND);
    expect(await page.locator('dl:visible').textContent()).toContain(`Second chain (chain ${SECOND_ID})`);
    expect(await page.locator('details:visible >> summary').allTextContents()).toEqual([
      'Pay with your phone',
      `Pay by hand: ${SECOND}`,
    ]);
    await page.click('button:has-text("Pay with")');
    await statusOf(page, PAID);
    expect(visitor.wallet.countOf('wallet_switchEthereumChain')).toBe(1);
    expect(await page.isVisible('#choice')).toBe(false);
    expect(await page.textContent('#receipt-network')).toBe(`Second chain (chain ${SECOND_ID})`);
    const txHash = (await page.textContent('#receipt-transaction')) ?? '';
    expect(await callRpc(second.rpcUrl, 'eth_getTransactionReceipt', [txHash])).toMatchObject({ status: '0x1' });
    await page.reload();
    await statusOf(page, PAID);
    expect(await page.textContent('#receipt-network')).toBe(`Second chain (chain ${SECOND_ID})`);
    expect(pages().upstream.requests).toHaveLength(1);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('follows a connected wallet that holds enough on its chain, until the payer chooses', async () => {
    const visitor = await createTraveller({ on: second, isConnected: true });
    const page = await visitor.open(newUrl());
    await page.waitForSelector(`#choice label:has-text("${SECOND}") input:checked`);
    await choose(page, FIRST);
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, PAID);
    const sent = visitor.wallet.asked.find(({ method }) => method === 'eth_sendTransaction');
    expect(sent?.params[0]).toMatchObject({ chainId: '0x530', to: first.asset.toLowerCase() });
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it.each<[string, (visitor: Visitor) => void]>([
    [
      'holds too little',
      ({ wallet }) => wallet.handlers.set('eth_call', () => `0x${(9_999).toString(16).padStart(64, '0')}`),
    ],
    ['does not tell its balance', ({ wallet }) => wallet.refuse('eth_call', -32603)],
    ['refuses to tell its chain', ({ wallet }) => wallet.refuse('eth_chainId', 4900)],
  ])('stays with the first option for a wallet that %s', async (_what, prepare) => {
    const visitor = await createTraveller({ on: second, isConnected: true });
    prepare(visitor);
    const page = await visitor.open(newUrl());
    await page.waitForSelector('button:has-text("Pay with")');
    await waitFor('the wallet was asked', () => Promise.resolve(visitor.wallet.asked.length >= 2));
    expect(await isChosen(page, FIRST)).toBe(true);
    await visitor.context.close();
  });

  it('redeems what was sent by hand on the chosen chain, also after a reload', async () => {
    const visitor = await createTraveller({ on: second, isConnected: false });
    const page = await visitor.open(newUrl());
    await choose(page, SECOND);
    await page.click('summary:visible:has-text("Pay by hand")');
    await untilKept(page);
    const data = ((await page.textContent('#calldata-1')) ?? '').trim();
    await page.reload();
    // The page goes on with what it showed last.
    expect(await isChosen(page, SECOND)).toBe(true);
    const [{ address: from }] = second.accounts as [Devnet['accounts'][number]];
    const txHash = await callRpc(second.rpcUrl, 'eth_sendTransaction', [{ from, to: second.asset, data }]);
    await page.click('summary:visible:has-text("Pay by hand")');
    await page.fill('#hash-1', String(txHash));
    await page.press('#hash-1', 'Enter');
    await statusOf(page, PAID);
    expect(await page.textContent('#receipt-network')).toBe(`Second chain (chain ${SECOND_ID})`);
    await visitor.context.close();
  });

  it('has a phone pay in the chosen option, and changes it no more while the phone is waited for', async () => {
    const desktop = await createTraveller({ on: first, isConnected: false, hasNoWallet: true });
    const phone = await createTraveller({ on: first, isConnected: false });
    const page = await desktop.open(newUrl());
    await choose(page, SECOND);
    await page.click('summary:has-text("Pay with your phone")');
    await statusOf(page, 'Waiting for your phone');
    expect(await page.isVisible('#choice')).toBe(false);
    const ticket = await phone.open((await page.textContent('#code code')) ?? '');
    expect(await ticket.textContent('#facts')).toContain(`Second chain (chain ${SECOND_ID})`);
    await ticket.click('button:has-text("Send with")');
    await statusOf(ticket, 'Sent.');
    await page.bringToFront();
    await statusOf(page, PAID);
    expect(await page.textContent('#receipt-network')).toBe(`Second chain (chain ${SECOND_ID})`);
    for (const { context } of [desktop, phone]) await context.close();
  });

  it('goes on with a payment whose option is chosen no more after a reload', async () => {
    const visitor = await createTraveller({ on: second, isConnected: false });
    visitor.wallet.handlers.set('eth_sendTransaction', async (params) => {
      await callRpc(second.rpcUrl, 'eth_sendTransaction', params);
      return new Promise(() => undefined);
    });
    const page = await visitor.open(newUrl());
    await choose(page, SECOND);
    await page.click('button:has-text("Send a transfer instead")');
    await waitFor('it is sent', () => Promise.resolve(visitor.wallet.countOf('eth_sendTransaction') === 1));
    await page.close();
    const again = await visitor.open(new URL(page.url()).pathname + new URL(page.url()).search);
    await statusOf(again, 'You began to pay 0.01 USDC');
    expect(await again.isVisible('#choice')).toBe(false);
    await again.click('button:has-text("Look for the payment")');
    await statusOf(again, PAID);
    expect(await again.textContent('#receipt-network')).toBe(`Second chain (chain ${SECOND_ID})`);
    await visitor.context.close();
  });

  it('has a section to pay by hand for each option without JavaScript', async () => {
    const visitor = await createTraveller({ on: first, isConnected: false, javaScriptEnabled: false });
    const page = await visitor.open(newUrl());
    expect(await page.textContent('h1')).toBe(`Pay ${FIRST} or ${SECOND}`);
    for (const option of [FIRST, SECOND]) {
      const section = page.locator('details:visible', { hasText: `Pay by hand: ${option}` });
      await section.locator('summary').click();
      expect(await section.textContent()).toMatch(/0xa9059cbb[\s\S]*curl -H "X-Payment: /);
    }
    await visitor.context.close();
  });

  it.each([
    ['light', 1024],
    ['dark', 320],
  ] as const)('is accessible, and by the keyboard alone (%s, %d pixels wide)', async (colorScheme, width) => {
    const look = { bypassCSP: true, colorScheme, viewport: { width, height: 700 }, reducedMotion: 'reduce' as const };
    const visitor = await createTraveller({ on: first, isConnected: false, ...look });
    const page = await visitor.open(newUrl());
    await page.waitForSelector('button.main');
    await page.click('summary:visible:has-text("Pay by hand")');
    expect(await problemsOf(page)).toEqual([]);
    await page.focus('#choice input:checked');
    await page.keyboard.press('ArrowDown');
    expect(await isChosen(page, SECOND)).toBe(true);
    expect(await problemsOf(page)).toEqual([]);
    await visitor.context.close();
  });
});
