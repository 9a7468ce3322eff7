import { problemsOf } from './problems-of.js';
import { usePages } from './use-pages.js';
import { createVisitor, statusOf } from './visitor.js';

const pages = usePages();
describe.each([
  ['light', 1024],
  ['dark', 1024],
  ['light', 320],
  ['dark', 320],
] as const)('in %s, %d pixels wide, axe finds nothing on', (colorScheme, width) => {
  it('any page', async () => {
    // axe changes the page's document in ways that the policy refuses.
    const options = {
      bypassCSP: true,
      colorScheme,
      viewport: { width, height: 700 },
      reducedMotion: 'reduce' as const,
    };
    const visitor = await createVisitor(pages(), options);
    const front = await visitor.open('/');
    expect(await problemsOf(front)).toEqual([]);
    const page = await visitor.open(`/v1/notes/access?${colorScheme}${width}`);
    await page.waitForSelector('button.main');
    await page.click('summary:has-text("Pay with your phone")');
    await page.click('summary:has-text("Pay by hand")');
    const ticket = (await page.textContent('#code code')) ?? '';
    expect(await problemsOf(page)).toEqual([]);
    await page.click('button.main');
    await statusOf(page, 'Paid.');
    expect(await problemsOf(page)).toEqual([]);
    await page.goto(ticket);
    expect(await problemsOf(page)).toEqual([]);
    await page.goto(`${ticket}x`);
    expect(await page.textContent('h1')).toBe('This code has expired');
    expect(await problemsOf(page)).toEqual([]);
    for (const path of ['/v1/orders', `/v1/notes/access?${'long=query&'.repeat(300)}`])
      expect(await problemsOf(await visitor.open(path))).toEqual([]);
    await visitor.context.close();
  });
});

it('can be paid with the keyboard alone, and says what happens', async () => {
  const visitor = await createVisitor(pages());
  const page = await visitor.open('/v1/notes/keys');
  await page.waitForSelector('button.main');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Pay with');
  await page.keyboard.press('Enter');
  await statusOf(page, 'Paid.');
  expect(await page.getAttribute('#status', 'role')).toBe('status');
  await visitor.context.close();
});

it('waits for nothing that a slow network delays: the terms are in the document itself', async () => {
  const visitor = await createVisitor(pages(), { hasNoWallet: true });
  await visitor.context.route('**/pay/assets/**', (route) => route.abort());
  const page = await visitor.open('/v1/notes/slow');
  expect(await page.textContent('#facts')).toContain('0.01 USDC');
  await page.click('summary:has-text("Pay by hand")');
  expect(await page.isVisible('#manual pre >> nth=0')).toBe(true);
  await visitor.context.close();
});
