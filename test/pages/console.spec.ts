import { ApiKeyStore } from '@tollgate/http';
import type { AgentJobView } from '@tollgate/protocol';
import type { Page } from 'playwright-core';

import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { withRedis } from '../../tools/devnet/processes/with-redis.js';
import { waitFor } from '../harness/retry.js';
import { consoleUrl, createOperator } from './operator.js';
import { usePages } from './use-pages.js';
import { createVisitor, statusOf, type Visitor } from './visitor.js';

const pages = usePages();
const LIVE = 'header [role=status]:text-is("live")';

async function readOperator<T>(path: string, token: string): Promise<T> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${consoleUrl(pages())}/operator${path}`, { headers })).json() as Promise<T>;
}

/** Where the first payment of the list leads to; a page of the list may be full. */
async function readNewest(page: Page): Promise<string | null> {
  const links = await page.locator('tbody tr:first-child a').all();
  return links[0]?.getAttribute('href') ?? null;
}

/** Pays for the path by a transfer. Returns its hash and the payer's account. */
async function payByTransfer(payer: Visitor, path: string): Promise<{ sent: string; from: string }> {
  let sent = '';
  payer.wallet.handlers.set('eth_sendTransaction', async (_params, forward) => (sent = String(await forward())));
  const shop = await payer.open(path);
  await shop.click('button:has-text("Send a transfer instead")');
  await statusOf(shop, 'Paid. Here is your answer.');
  const [asking] = payer.wallet.asked.filter(({ method }) => method === 'eth_sendTransaction');
  return { sent, from: (asking!.params[0] as { from: string }).from };
}

describe('a session at the console', () => {
  it('begins with a key, keeps none of it in the browser, and ends at the logout', async () => {
    const operator = await createOperator(pages());
    const { context, token, faults } = operator;
    const page = await operator.open('/console');
    await page.fill('#key', `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`);
    await page.press('#key', 'Enter');
    await page.waitForSelector('[role=alert]:has-text("unknown or revoked")');
    await page.fill('#key', token);
    await page.press('#key', 'Enter');
    await page.waitForSelector('h1:has-text("Now")');
    const kept = await page.evaluate(
      'document.cookie + JSON.stringify([{ ...localStorage }, { ...sessionStorage }]) + document.documentElement.outerHTML',
    );
    expect(kept).not.toContain(token);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: 'tollgate_console', httpOnly: true, sameSite: 'Strict', path: '/console' });
    await page.reload();
    await page.waitForSelector('h1:has-text("Now")');
    await page.click('button:has-text("Log out")');
    await page.waitForSelector('#key');
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${consoleUrl(pages())}/console#/payments`);
    await page.reload();
    await page.waitForSelector('#key');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('ends in the open page when its key is revoked', async () => {
    const operator = await createOperator(pages());
    const page = await operator.logIn('#/payments');
    await withRedis(pages().stack.redis.url, (redis) => new ApiKeyStore(redis).revoke(operator.keyId));
    await page.waitForSelector('#key');
    await page
      .getByRole('alert')
      .filter({ hasText: /was revoked|has ended/ })
      .waitFor();
    await operator.context.close();
  });

  it('writes nothing for a page of another site that frames, posts or reads', async () => {
    const operator = await createOperator(pages());
    await operator.logIn();
    const url = consoleUrl(pages());
    // The seller's page is on the same host, so that the cookie's own rules do not help.
    pages().upstream.answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('x');
    const foreign = await operator.context.newPage();
    await foreign.goto(pages().upstream.url);
    const outcomes = await foreign.evaluate(`(async () => {
      const tries = [
        ['/console/operator/closings', { method: 'POST', mode: 'no-cors', credentials: 'include' }],
        ['/console/operator/closings', { method: 'POST', credentials: 'include', headers: { 'X-Tollgate-Console': '1' } }],
        ['/console/operator/payments', { credentials: 'include' }],
      ];
      const seen = [];
      for (const [path, init] of tries) {
        seen.push(await fetch('${url}' + path, init).then((answer) => answer.type + answer.status, () => 'refused'));
      }
      const frame = document.createElement('iframe');
      frame.src = '${url}/console';
      document.body.append(frame);
      await new Promise((resolve) => (frame.onload = resolve));
      let inner = 'none';
      try { inner = frame.contentDocument === null ? 'refused' : frame.contentDocument.title } catch { inner = 'refused' }
      return [...seen, inner];
    })()`);
    expect(outcomes).toEqual(['refused', 'refused', 'refused', 'refused']);
    const { acts } = await readOperator<{ acts: { keyId: string }[] }>('/audit?limit=200', operator.token);
    expect(acts.filter(({ keyId }) => keyId === operator.keyId)).toEqual([]);
    await operator.context.close();
  });
});

describe('the console shows', () => {
  it('a payment as the event stream tells of it, without a clock, with its timeline', async () => {
    const operator = await createOperator(pages());
    // Nothing is asked for by the clock.
    await operator.context.addInitScript('globalThis.setInterval = () => 0');
    const page = await operator.logIn('#/payments');
    await page.waitForSelector(LIVE);
    const payer = await createVisitor(pages());
    const shop = await payer.open('/v1/notes/timeline');
    await page.waitForSelector('table[aria-label="Payments"], .empty');
    await shop.click('button:has-text("Send a transfer instead")');
    await statusOf(shop, 'Paid. Here is your answer.');
    const row = page.locator('tbody tr:has-text("/v1/notes/timeline")');
    await row.waitFor();
    expect(await row.textContent()).toContain('0.01 USDC');
    await row.locator('a').first().click();
    await page.waitForSelector('.timeline li');
    const steps = await page.locator('.timeline li b').allTextContents();
    expect(steps).toEqual(['presented', 'claimed', 'verified', 'fulfilled', 'answered']);
    expect(await page.locator('table tbody tr').count()).toBe(2);
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('what changed while its event stream was refused, once the stream is open again', async () => {
    const operator = await createOperator(pages());
    const payer = await createVisitor(pages());
    let isRefused = true;
    await operator.context.route('**/console/operator/changes', (route) =>
      isRefused ? route.fulfill({ status: 503 }) : route.continue(),
    );
    const page = await operator.logIn('#/payments');
    await page.waitForSelector('header [role=status]:has-text("reconnecting")');
    await page.waitForSelector('table[aria-label="Payments"], .empty');
    const newest = await readNewest(page);
    const shop = await payer.open('/v1/notes/unseen');
    await shop.click('button:has-text("Send a transfer instead")');
    await statusOf(shop, 'Paid. Here is your answer.');
    isRefused = false;
    // The page opens its stream again after pauses that grow to 40 s.
    await page.waitForSelector(LIVE, { timeout: 80_000 });
    await page.locator(`tbody tr:first-child a:not([href="${newest}"])`).first().waitFor();
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('what it is asked to find', async () => {
    const operator = await createOperator(pages());
    const { payments } = await readOperator<{ payments: { id: string; transaction: string; payer: string }[] }>(
      '/payments?state=answered',
      operator.token,
    );
    const [{ id, transaction, payer }] = payments as [(typeof payments)[number]];
    const page = await operator.logIn('#/payments');
    for (const [text, least] of [
      [transaction, 1],
      [payer, 1],
      [id, 1],
      ['/v1/notes/*', 1],
      ['no-such-request', 0],
    ] as const) {
      await page.fill('[name=find]', text);
      await page.press('[name=find]', 'Enter');
      await page.waitForURL((url) => url.hash.includes(encodeURIComponent(text).slice(0, 8)));
      await page.waitForSelector(least === 0 ? '.empty' : 'tbody tr');
      if (text === transaction) expect(await page.locator('tbody tr').count()).toBe(1);
    }
    await operator.context.close();
  });

  it('a plan, and approves exactly this one', async () => {
    const { stack } = pages();
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    const submit = async (key: string): Promise<string> => {
      const job = {
        operation: 'transfer',
        wallet: 'main',
        input: { amount: '2', token: 'USDC', to: stack.chain.payTo },
      };
      const response = await fetch(`${stack.baseUrl}/agent/jobs`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify(job),
      });
      return ((await response.json()) as AgentJobView).id;
    };
    const operator = await createOperator(pages());
    const id = await submit('console-approves');
    const read = () => readOperator<AgentJobView & { planDigest: string }>(`/jobs/${id}`, operator.token);
    await waitFor('it waits for an approval', async () => (await read()).state === 'AWAITING_APPROVAL');
    const page = await operator.logIn();
    // What is wrong leads to where it can be mended.
    await page.click('.verdict a:has-text("Show them")');
    await page.click(`a[href="#/jobs/${id}"]`);
    const { planDigest } = await read();
    // As if the worker had made another plan since: the page shows, and names, the earlier one.
    const stale = 'ab'.repeat(32);
    await page.route(`**/console/operator/jobs/${id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(planDigest, stale) });
    });
    await page.waitForSelector(`code:has-text("${stale}")`);
    expect(await page.locator('button:has-text("Resume the job")').count()).toBe(0);
    await page.click('button:has-text("Approve this plan")');
    await page.click('dialog button:has-text("Yes: approve this plan")');
    await page.waitForSelector('dialog [role=alert]');
    expect((await read()).state).toBe('AWAITING_APPROVAL');
    await page.click('dialog button:has-text("No, go back")');
    await page.unrouteAll({ behavior: 'wait' });
    // As if it needed an operator: one that needs none is not changed by the bookkeeper.
    await page.route(`**/console/operator/jobs/${id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace('"state":"AWAITING_APPROVAL"', '"state":"NEEDS_OPERATOR"'),
      });
    });
    await page.click('button:has-text("Resume the job")');
    await page.click('dialog button:has-text("Yes: resume the job")');
    await page.waitForSelector('dialog', { state: 'hidden' });
    expect((await read()).state).toBe('AWAITING_APPROVAL');
    await page.unrouteAll({ behavior: 'wait' });
    await page.waitForSelector(`code:has-text("${planDigest}")`);
    await page.click('button:has-text("Approve this plan")');
    expect(await page.textContent('dialog')).toContain(planDigest);
    await page.click('dialog button:has-text("Yes: approve this plan")');
    await page.waitForSelector('.state:has-text("final")');
    const { acts } = await readOperator<{ acts: { keyId: string; action: string; subject: string }[] }>(
      '/audit',
      operator.token,
    );
    const own = acts.filter(({ keyId }) => keyId === operator.keyId);
    expect(own.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
      `job.approve ${id}`,
      `job.resume ${id}`,
      `job.approve ${id}`,
    ]);
    expect(operator.faults).toEqual([]);
    await operator.context.close();
  });

  it('what a refund does, and pays the payer back when it is told to twice', async () => {
    const operator = await createOperator(pages());
    const payer = await createVisitor(pages());
    const shop = await payer.open('/v1/notes/refunded');
    await shop.click('button:has-text("Send a transfer instead")');
    await statusOf(shop, 'Paid. Here is your answer.');
    const page = await operator.logIn('#/payments');
    await page.click('tbody tr >> nth=0 >> a >> nth=0');
    await page.waitForSelector('dt:has-text("Left to pay back")');
    await page.fill('input[inputmode=decimal]', '0.02');
    await page.waitForSelector('[role=alert]:has-text("at most what is left")');
    await page.fill('input[inputmode=decimal]', '0.004');
    await page.click('button:has-text("Refund this payment")');
    expect(await page.textContent('dialog')).toContain('It bought an answer');
    expect(await page.textContent('dialog')).toContain('0.004 USDC');
    await page.click('dialog button:has-text("Yes: refund this payment")');
    await page.waitForSelector('table[aria-label="Refunds of this payment"] .state:has-text("refunded")', {
      timeout: 60_000,
    });
    await page.waitForSelector('.timeline b:has-text("refunded")');

    // As if its job had failed: only the refund can be retried, not its job.
    await page.route('**/console/operator/jobs/*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace('"state":"FINAL"', '"state":"REVERTED"');
      await route.fulfill({ response: answer, body });
    });
    await page.click('a:has-text("its job")');
    await page.waitForSelector('.state:has-text("reverted")');
    expect(await page.locator('button:has-text("Retry as a new job")').count()).toBe(0);
    await page.click('a:has-text("its payment")');
    await page.waitForSelector('table[aria-label="Refunds of this payment"]');
    await page.unrouteAll({ behavior: 'wait' });
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('why a refund needs a second person, where that one approves it', async () => {
    const operator = await createOperator(pages());
    const payer = await createVisitor(pages());
    const { sent, from } = await payByTransfer(payer, '/v1/notes/refunded-to-a-contract');
    const page = await operator.logIn('#/payments');
    await page.click(`tbody tr:has(code[title="${sent}"]) >> a >> nth=0`);
    await page.waitForSelector('dt:has-text("Left to pay back")');
    const payment = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1) ?? '');
    const { rpcUrl } = pages().stack.chain;
    await callRpc(rpcUrl, 'anvil_setCode', [from, '0x60006000fd']);
    try {
      const asker = await createOperator(pages());
      const asked = await fetch(`${consoleUrl(pages())}/operator/refunds`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${asker.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ payment, amount: '4000', answered: true }),
      });
      expect(asked.status).toBe(202);
      await asker.context.close();
      const doubt = 'The payer is a contract';
      await page.waitForSelector(`table[aria-label="Refunds of this payment"] td:has-text("${doubt}")`);
      await page.click('a:has-text("its job")');
      const approve = page.locator('button:has-text("Approve this plan")');
      await page.waitForSelector(`h2:has-text("Why it needs an approval") + ul >> text=${doubt}`);
      await approve.click();
      await page.click('dialog button:has-text("Yes: approve this plan")');
      await page.waitForSelector('.state:has-text("final")', { timeout: 60_000 });
      expect(await page.locator('h2:has-text("Why it needs an approval")').count()).toBe(0);
      await page.goBack();
      const refunds = page.locator('table[aria-label="Refunds of this payment"]');
      await refunds.locator('.state:has-text("refunded")').waitFor({ timeout: 60_000 });
      expect(await refunds.textContent()).not.toContain(doubt);
    } finally {
      await callRpc(rpcUrl, 'anvil_setCode', [from, '0x']);
    }
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('a refund as paid, by the transaction that paid it', async () => {
    const { stack } = pages();
    const operator = await createOperator(pages());
    const payer = await createVisitor(pages());
    const { sent, from } = await payByTransfer(payer, '/v1/notes/refunded-by-hand');
    const post = async <T>(path: string, token: string, body: object): Promise<T> => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': path };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<T>;
    };
    const decide = <T>(path: string, body: object = {}) =>
      post<T>(`${consoleUrl(pages())}/operator${path}`, operator.token, body);
    const page = await operator.logIn('#/payments');
    await page.click(`tbody tr:has(code[title="${sent}"]) >> a >> nth=0`);
    await page.waitForSelector('dt:has-text("Left to pay back")');
    const payment = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1) ?? '');

    // Its job moves nothing, and another account of ours pays it.
    await decide('/wallets/refunds/pause');
    try {
      const { job } = await decide<{ job: string }>('/refunds', { payment, amount: '4000', answered: true });
      await decide(`/jobs/${job}/cancel`);
    } finally {
      await decide('/wallets/refunds/resume');
    }
    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    const input = { amount: '0.004', token: 'USDC', to: from };
    const { id } = await post<AgentJobView>(`${stack.baseUrl}/agent/jobs`, token, {
      operation: 'transfer',
      wallet: 'main',
      input,
    });
    let transaction: string | undefined;
    await waitFor('it is paid', async () => {
      const { state, steps } = await readOperator<AgentJobView>(`/jobs/${id}`, operator.token);
      transaction = state === 'FINAL' ? steps.at(-1)?.mined?.txHash : undefined;
      return transaction !== undefined;
    });
    const refunds = page.locator('table[aria-label="Refunds of this payment"]');
    await refunds.locator('.state:has-text("failed")').waitFor();
    await page.click('button:has-text("Record this refund as paid")');
    await page.fill('dialog input', sent);
    await page.click('dialog button:has-text("Yes: record this refund as paid")');
    await page.waitForSelector('dialog [role=alert]:has-text("no transfer of the refund")');
    await page.fill('dialog input', transaction!);
    await page.click('dialog button:has-text("Yes: record this refund as paid")');
    await refunds.locator('.state:has-text("refunded")').waitFor();
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await refunds.locator(`code[title="${transaction}"]`).count()).toBe(1);
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('another refund as another question, where the reply to the first one was lost', async () => {
    const operator = await createOperator(pages());
    const payer = await createVisitor(pages());
    const shop = await payer.open('/v1/notes/refunded-once');
    await shop.click('button:has-text("Send a transfer instead")');
    await statusOf(shop, 'Paid. Here is your answer.');
    const page = await operator.logIn('#/payments');
    await page.click('tbody tr >> nth=0 >> a >> nth=0');
    await page.waitForSelector('dt:has-text("Left to pay back")');
    const rows = page.locator('table[aria-label="Refunds of this payment"] tbody tr');
    let sent: { payment: string; number: number } | null = null;
    await page.route('**/console/operator/refunds', async (route) => {
      sent = route.request().postDataJSON() as { payment: string; number: number };
      await route.fetch();
      await route.abort();
    });
    await page.fill('input[inputmode=decimal]', '0.003');
    await page.click('button:has-text("Refund this payment")');
    expect(await page.textContent('dialog')).toContain('refund number 1');
    await page.click('dialog button:has-text("Yes: refund this payment")');
    await rows.first().waitFor();
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await page.inputValue('input[inputmode=decimal]')).toBe('');

    // Another operator is faster with the second one.
    await page.fill('input[inputmode=decimal]', '0.003');
    await page.click('button:has-text("Refund this payment")');
    expect(await page.textContent('dialog')).toContain('refund number 2');
    const { payment } = sent!;
    await fetch(`${consoleUrl(pages())}/operator/refunds`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operator.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ payment, number: 2, amount: '3000', answered: true }),
    });
    await rows.nth(1).waitFor();
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(sent).toMatchObject({ number: 1 });
    await page.unrouteAll({ behavior: 'wait' });
    expect([...operator.faults, ...payer.faults]).toEqual([]);
    await operator.context.close();
    await payer.context.close();
  });

  it('a wallet, and pauses and resumes it when it is told to twice', async () => {
    const operator = await createOperator(pages());
    const page = await operator.logIn('#/wallets');
    await page.click('button:has-text("Pause main")');
    // An earlier key would reach the page behind it.
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.click('button:has-text("Pause main")');
    await page.click('dialog button:has-text("No, go back")');
    await page.waitForSelector('button:focus:has-text("Pause main")');
    await page.click('button:has-text("Pause main")');
    await page.click('dialog button:has-text("Yes: pause main")');
    await page.waitForSelector('button:focus:has-text("Resume main")');
    await page.click('button:has-text("Resume main")');
    await page.click('dialog button:has-text("Yes: resume main")');
    await page.waitForSelector('button:has-text("Pause main")');
    expect(operator.faults).toEqual([]);
    await operator.context.close();
  });

  it('no question about a wallet that someone else has paused meanwhile', async () => {
    const operator = await createOperator(pages());
    const page = await operator.logIn('#/wallets');
    await page.click('button:has-text("Pause main")');
    await page.waitForSelector('dialog[open]');
    const headers = { Authorization: `Bearer ${operator.token}` };
    const write = (act: string) =>
      fetch(`${consoleUrl(pages())}/operator/wallets/main/${act}`, { method: 'POST', headers });
    expect((await write('pause')).ok).toBe(true);
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('button:focus:has-text("Resume main")');
    expect((await write('resume')).ok).toBe(true);
    await page.waitForSelector('button:has-text("Pause main")');
    expect(await page.locator('dialog').count()).toBe(0);
    expect(operator.faults).toEqual([]);
    await operator.context.close();
  });

  it('which scope a write would need, where the key has it not', async () => {
    const operator = await createOperator(pages(), { scopes: ['operator:read'] });
    const page = await operator.logIn('#/book');
    await page.waitForSelector('.missing-scope:has-text("operator:approve")');
    expect(await page.locator('button:has-text("Close the book now")').count()).toBe(0);
    await page.click('button:has-text("Verify all of it")');
    await page.waitForSelector('[role=status]:has-text("All fits")');
    const download = page.waitForEvent('download');
    await page.click('a:has-text("payments as CSV")');
    expect((await download).suggestedFilename()).toBe('payments.csv');
    expect(operator.faults).toEqual([]);
    await operator.context.close();
  });
});
