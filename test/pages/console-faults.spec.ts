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
