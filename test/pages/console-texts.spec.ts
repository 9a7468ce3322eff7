import type { BookEvent } from '@tollgate/book-events';
import type { Page } from 'playwright-core';

import {
  answered,
  authorizationId,
  deliver,
  hashOf,
  refused,
  released,
  transferId,
} from '../../libs/book/test/sample-events.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { withRedis } from '../../tools/devnet/processes/with-redis.js';
import { waitFor } from '../harness/retry.js';
import { consoleUrl, createOperator } from './operator.js';
import { problemsOf } from './problems-of.js';
import { HOSTILE, usePages } from './use-pages.js';

const pages = usePages();
const SOLD = transferId(70_001);
const REFUSED = transferId(70_002);

async function report(events: readonly BookEvent[]): Promise<void> {
  for (const event of events) event.atMs = Date.now();
  await withRedis(pages().stack.redis.url, async (redis) => {
    for (const event of events) {
      const { stream, fields } = deliver(event);
      await redis.xadd(stream, '*', ...fields);
    }
  });
}

/** A script in each text that a payer, a seller or a service may choose. */
async function reportHostile(): Promise<void> {
  const asked = { requestId: HOSTILE, route: `/${HOSTILE}`, path: `/${HOSTILE}`, query: HOSTILE, method: HOSTILE };
  const texts = { ...asked, scheme: HOSTILE, network: HOSTILE };
  const events = [
    answered(SOLD, { ...texts, requestHash: HOSTILE, transaction: hashOf(70_001) }),
    released(transferId(70_003), texts),
    refused(REFUSED),
    answered(authorizationId(70_004), { route: 'x'.repeat(2_000), path: 'x'.repeat(2_000) }),
  ];
  Object.assign(events[2]!.facts, { failure: HOSTILE, detail: HOSTILE });
  Object.assign(events[1]!.facts, { reason: HOSTILE });
  await report(events);
}

const PLACES = [
  'now',
  'payments',
  `payments/${encodeURIComponent(SOLD)}`,
  `payments/${encodeURIComponent(REFUSED)}`,
  'owed',
  'jobs',
  'wallets',
  'book',
];

async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  await page.waitForSelector('h1');
  await page.waitForLoadState('networkidle').catch(() => undefined);
}

beforeAll(async () => {
  await reportHostile();
  const { token } = await createOperator(pages());
  const headers = { Authorization: `Bearer ${token}` };
  const isBooked = async (id: string) =>
    (await fetch(`${consoleUrl(pages())}/operator/payments/${id}`, { headers })).status === 200;
  await waitFor('the hostile texts are booked', async () => (await isBooked(SOLD)) && (await isBooked(REFUSED)));
});

it('runs no text of payers, sellers or services, whichever page shows it', async () => {
  const operator = await createOperator(pages());
  const page = await operator.logIn('#/payments');
  await page.waitForSelector('td:has-text("window.hacked")');
  for (const place of [
    ...PLACES,
    `payments/${encodeURIComponent(HOSTILE)}`,
    `jobs/${encodeURIComponent(HOSTILE)}`,
    HOSTILE,
  ]) {
    await goTo(page, place);
  }
  await goTo(page, `payments/${encodeURIComponent(SOLD)}`);
  await page.waitForSelector('.timeline');
  await page.click('summary');
  expect(await page.textContent('main')).toContain('<script>window.hacked=1</script>');
  await goTo(page, 'owed');
  await page.waitForSelector('td:has-text("window.hacked")');
  expect(await page.evaluate('globalThis.hacked ?? null')).toBeNull();
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

it('says in words why money bought nothing, and its code on the page of the payment', async () => {
  const operator = await createOperator(pages());
  await report([refused(transferId(70_005), { failure: 'payment_late' })]);
  const page = await operator.logIn('#/owed?state=refused');
  const row = page.locator('tr:has-text("paid too long after its challenge")');
  await row.waitFor();
  await row.locator('a').first().click();
  await page.waitForSelector('dd:has-text("paid too long after its challenge") >> code:has-text("payment_late")');
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

it('says what the API answered, when with date and zone, and what each route has brought', async () => {
  const operator = await createOperator(pages());
  const late = released(transferId(70_006), { transaction: hashOf(70_006) });
  Object.assign(late.facts, { reason: 'answered_422' });
  const busy = released(transferId(70_007));
  Object.assign(busy.facts, { reason: 'answered_503' });
  await report([late, busy, refused(transferId(70_007), { failure: 'released_too_often' })]);
  const page = await operator.logIn('#/owed?state=released');
  const row = page.locator('tr:has-text("your API answered 422")');
  await row.waitFor();
  expect(await row.locator('time').textContent()).toMatch(/ 20\d\d, .*(GMT|UTC)/);
  await goTo(page, 'owed?state=refused');
  await page.waitForSelector('tr:has-text("or was busy fifty times; released before: your API answered 503")');
  await goTo(page, 'now');
  await page.waitForSelector('table[aria-label^="Revenue per route"] td:has-text("window.hacked")');
  await goTo(page, 'wallets');
  const wallets = page.locator('section[aria-label="refunds"]');
  await wallets.locator('dd:has-text("USDC")').first().waitFor();
  expect(await wallets.locator('dl').textContent()).toMatch(/Tokens[\d\s.]+USDC.*A refund can still pay[\d\s.]+USDC/);
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

it('shows of a payment that was refunded in part what is owed still', async () => {
  const operator = await createOperator(pages());
  const { chain } = pages().stack;
  const transaction = await transferTokens(chain, { amountBaseUnits: 10_000n });
  const id = `tx:${chain.chainId}:${transaction}:0`;
  const late = refused(id, { failure: 'payment_late' });
  Object.assign(late.facts, { transaction });
  await report([late]);
  const headers = { Authorization: `Bearer ${operator.token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ payment: id, amount: '4000' });
  await waitFor('a part is asked for', async () => {
    const asked = await fetch(`${consoleUrl(pages())}/operator/refunds`, { method: 'POST', headers, body });
    return asked.status === 202;
  });
  const page = await operator.logIn('#/owed?state=closed');
  const row = page.locator(`tr:has(a[href="#/payments/${encodeURIComponent(id)}"])`);
  await row.locator('td:has-text("0.006 USDC")').waitFor({ timeout: 60_000 });
  expect(await row.textContent()).toContain('closed for a refund');
  await page.click('button:text-is("all")');
  await row.locator('td:has-text("0.006 USDC")').waitFor();
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

describe.each([
  ['light', 1024],
  ['dark', 1024],
  ['light', 320],
  ['dark', 320],
] as const)('in %s, %d pixels wide, axe finds nothing on', (colorScheme, width) => {
  it('any page', async () => {
    // axe changes the page's document in ways that the policy refuses.
    const operator = await createOperator(pages(), {
      bypassCSP: true,
      colorScheme,
      viewport: { width, height: 700 },
      reducedMotion: 'reduce',
    });
    const login = await operator.open('/console');
    await login.waitForSelector('#key');
    expect(await problemsOf(login)).toEqual([]);
    const page = await operator.logIn();
    for (const place of PLACES) {
      await goTo(page, place);
      expect([place, await problemsOf(page)]).toEqual([place, []]);
    }
    await page.click('button:has-text("Close the book now")');
    expect(await problemsOf(page)).toEqual([]);
    await operator.context.close();
  });
});

it('has a screen reader say what is wrong, and not each age of the newest block', async () => {
  const operator = await createOperator(pages());
  const page = await operator.logIn();
  await page.waitForSelector('.verdict [aria-live=polite] b');
  await page.waitForSelector('.verdict:has-text("Unreconciled")');
  expect(await page.locator('[aria-live]:has-text("Unreconciled"), [aria-live]:has-text("Relayer")').count()).toBe(0);
  await operator.context.close();
});

it('is used with the keyboard alone', async () => {
  const operator = await createOperator(pages());
  const page = await operator.open('/console');
  await page.waitForSelector('#key');
  const press = async (key: string, times = 1) => {
    for (let count = 0; count < times; count++) await page.keyboard.press(key);
  };
  await press('Tab');
  await page.keyboard.type(operator.token);
  await press('Enter');
  await page.waitForSelector('nav');
  await press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page');
  await press('Tab', 2);
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Payments');
  await press('Enter');
  await page.waitForSelector('h1:has-text("Payments")');
  // What the link led to has the focus, and its title is the document's.
  await page.waitForSelector('main:focus');
  expect(await page.title()).toBe('Payments – Tollgate console');
  // As if the book had more payments than a page has.
  await page.route('**/console/operator/payments?*', (route) =>
    route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
  );
  await page.reload();
  await page.focus('button:has-text("Next page")');
  await press('Enter');
  await page.waitForSelector('main:focus >> text=Page 2');
  await operator.context.close();
});
