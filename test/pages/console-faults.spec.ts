import type { Page } from 'playwright-core';

import { createOperator } from './operator.js';
import { usePages } from './use-pages.js';

const pages = usePages();

/** Waits for the event stream: it has every path read again when it opens. */
async function untilLive(page: Page): Promise<void> {
  await page.waitForSelector('header [role=status]:text-is("live")');
}

it('reads again what could not be read for a moment, though nothing changes', async () => {
  const operator = await createOperator(pages());
  const page = await operator.logIn('#/payments');
  await untilLive(page);
  const problem = { code: 'book_unavailable', detail: 'The book is not open.' };
  await page.route('**/console/operator/balances', (route) => route.fulfill({ status: 503, json: problem }), {
    times: 1,
  });
  await page.click('nav a:has-text("Book")');
  await page.waitForSelector('[role=alert]:has-text("The book is not open.")');
  await page.waitForSelector('[role=alert]', { state: 'detached' });
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

it('stays at its pages, and says why, while the session cannot be ended', async () => {
  const operator = await createOperator(pages());
  const page = await operator.logIn('#/payments');
  await page.route('**/console/session', (route) => route.abort(), { times: 1 });
  await page.click('button:has-text("Log out")');
  await page.waitForSelector('main [role=alert]:has-text("does not answer")');
  expect(await operator.context.cookies()).toHaveLength(1);
  await page.click('button:has-text("Log out")');
  await page.waitForSelector('#key');
  expect(await operator.context.cookies()).toEqual([]);
  await operator.context.close();
});

it('says that no day is closed, and that the book fits, only where it was told so', async () => {
  const operator = await createOperator(pages());
  const problem = { code: 'book_unavailable', detail: 'The closings cannot be read.' };
  await operator.context.route('**/console/operator/closings', (route) =>
    route.fulfill({ status: 503, json: problem }),
  );
  const page = await operator.logIn('#/book');
  await page.waitForSelector('[role=alert]:has-text("The closings cannot be read.")');
  expect(await page.locator('.empty:has-text("No day is closed yet")').count()).toBe(0);
  await operator.context.unrouteAll({ behavior: 'wait' });
  await page.click('button:has-text("Verify all of it")');
  const fits = page.locator('[role=status]:has-text("All fits")');
  await fits.waitFor();
  // As if someone had changed the database since.
  await page.route('**/console/operator/verification', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), broken: 'Booking 1: it was changed.' } });
  });
  await page.click('button:has-text("Verify all of it")');
  await page.waitForSelector('[role=alert]:has-text("The book is broken. Booking 1: it was changed.")');
  expect(await fits.count()).toBe(0);
  await page.unrouteAll({ behavior: 'wait' });
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});

it('says that it reads while an answer takes long', async () => {
  const operator = await createOperator(pages());
  const page = await operator.logIn('#/payments');
  const asked = page.waitForRequest('**/console/operator/jobs?*');
  let letThrough = (): void => undefined;
  const wait = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route('**/console/operator/jobs?*', async (route) => {
    await wait;
    await route.continue();
  });
  await page.click('nav a:has-text("Jobs")');
  await asked;
  await page.waitForSelector('.reading');
  letThrough();
  await page.waitForSelector('.empty, table[aria-label="Jobs"]');
  expect(await page.locator('.reading').count()).toBe(0);
  await page.unrouteAll({ behavior: 'wait' });
  expect(operator.faults).toEqual([]);
  await operator.context.close();
});
