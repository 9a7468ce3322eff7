import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds, and whether the page is wider than its window. */
export async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  return [...(found as string[]), ...(isTooWide === true ? ['it scrolls sideways'] : [])];
}
