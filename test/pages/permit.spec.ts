import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS, type Hex } from '@tollgate/protocol';

import { startChain, type Devnet } from '../../tools/devnet/chain/chain.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { deployToken } from '../harness/chain/deploy.js';
import { approvePermit2 } from '../harness/chain/sign-permit.js';
import { usePages, type Pages } from './use-pages.js';
import { createVisitor, keptBy, statusOf, type Visitor } from './visitor.js';

const pages = usePages();
const PAID = 'Paid. Here is your answer.';
const SIGN = 'button:has-text("Pay with")';

/** A gate that sells for a token without EIP-3009, which is paid by signature through Permit2 alone. */
describe('paying by Permit2 in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'permit-pages-'));
  let chain: Devnet;
  let stack: Stack;
  let token: Hex;
  let shop: Pages;

  beforeAll(async () => {
    const route = `price: "0.01", upstream: "${pages().upstream.url}"`;
    writeFileSync(
      join(folder, 'routes.yaml'),
      `routes:\n  - { path: "/v1/plain/*", ${route} }\n  - { path: "/v1/words/*", ${route}, metered: true }\n`,
    );
    chain = await startChain();
    token = await deployToken(chain);
    stack = await startStack({
      chain,
      env: { ASSET_ADDRESS: token, ROUTES_FILE: join(folder, 'routes.yaml'), SIGNED_PAYMENTS: 'true' },
    });
    shop = { ...pages(), stack };
  }, 240_000);

  afterAll(async () => {
    await stack?.stop();
    await chain?.stop();
    rmSync(folder, { recursive: true });
  }, 120_000);

  /** A visitor whose wallet has approved Permit2 for the token. */
  async function createApproved(): Promise<Visitor> {
    const visitor = await createVisitor(shop);
    const [owner] = (await visitor.wallet.request('eth_requestAccounts', [])) as [Hex];
    await approvePermit2(chain, { owner, token });
    return visitor;
  }

  const spenderOf = ({ wallet }: Visitor): string => {
    const asked = wallet.asked.find(({ method }) => method === 'eth_signTypedData_v4');
    return (JSON.parse(String(asked?.params[1])) as { message: { spender: string } }).message.spender;
  };

  it('gets the answer and a receipt by one signature, and the same answer after a reload', async () => {
    const visitor = await createApproved();
    const page = await visitor.open('/v1/plain/1');
    await page.click(SIGN);
    await statusOf(page, PAID);
    expect(spenderOf(visitor)).toBe(EXACT_PROXY_ADDRESS);
    expect(visitor.wallet.countOf('eth_sendTransaction')).toBe(0);
    expect(await page.textContent('h1')).toBe('Paid 0.01 USDC');
    expect(await page.textContent('#receipt-transaction')).toMatch(/^0x[0-9a-f]{64}$/);
    const answer = await page.textContent('#answer pre');
    expect(answer).toContain('/v1/plain/1');
    await page.reload();
    await statusOf(page, PAID);
    expect(await page.textContent('#answer pre')).toBe(answer);
    expect([visitor.wallet.countOf('eth_signTypedData_v4'), pages().upstream.requests.length]).toEqual([1, 1]);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('says what a wallet without an approval can do instead, and has it sign nothing', async () => {
    const visitor = await createVisitor(shop);
    const page = await visitor.open('/v1/plain/2');
    await page.click(SIGN);
    expect(await statusOf(page, 'approved Permit2')).toContain('Send the transfer instead.');
    expect(visitor.wallet.countOf('eth_signTypedData_v4')).toBe(0);
    expect(await keptBy(page)).toBe('[]');
    await page.click('button:has-text("Send a transfer instead")');
    await statusOf(page, PAID);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  it('pays at a metered route what the answer cost, and its receipt says so', async () => {
    pages().upstream.answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'Tollgate-Charge': '0.0042' }).end('{"words":7}');
    const visitor = await createApproved();
    const page = await visitor.open('/v1/words/1');
    expect(await page.textContent('#facts')).toContain('at most 0.01 USDC');
    await page.click(SIGN);
    await statusOf(page, PAID);
    expect(spenderOf(visitor)).toBe(UPTO_PROXY_ADDRESS);
    for (const part of ['h1', '#receipt-amount']) expect(await page.textContent(part)).toContain('0.0042 USDC');
    await page.reload();
    await statusOf(page, PAID);
    expect(await page.textContent('h1')).toBe('Paid 0.0042 USDC');
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });
});
