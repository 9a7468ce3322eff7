import { ApiKeyStore, type ApiKeyScope } from '@tollgate/http';
import type { Page } from 'playwright-core';

import { withRedis } from '../../tools/devnet/processes/with-redis.js';
import type { Pages } from './use-pages.js';
import { createVisitor, type Visitor, type VisitorOptions } from './visitor.js';

const ALL: readonly ApiKeyScope[] = ['operator:read', 'operator:approve', 'operator:wallets', 'operator:refund'];

/** A person with a browser at the console, and an API key. */
export interface Operator extends Visitor {
  readonly token: string;
  /** Public id of the key. */
  readonly keyId: string;
  /** Opens the console and logs in. */
  logIn(hash?: string): Promise<Page>;
}

export async function createOperator(
  pages: Pages,
  { scopes = ALL, ...options }: VisitorOptions & { scopes?: readonly ApiKeyScope[] } = {},
): Promise<Operator> {
  const { key, token } = await createKey(pages, scopes);
  const baseURL = consoleUrl(pages);
  const visitor = await createVisitor(pages, { hasNoWallet: true, baseURL, ...options });
  return {
    ...visitor,
    token,
    keyId: key.id,
    logIn: async (hash = '') => {
      const page = await visitor.open(`/console${hash}`);
      await page.fill('#key', token);
      await page.press('#key', 'Enter');
      await page.waitForSelector('nav');
      return page;
    },
  };
}

function createKey({ stack }: Pages, scopes: readonly ApiKeyScope[]) {
  return withRedis(stack.redis.url, (redis) => new ApiKeyStore(redis).create({ name: 'browser', scopes, wallets: [] }));
}

/** Where the bookkeeper serves the console. */
export function consoleUrl({ stack }: Pages): string {
  return stack.bookkeeper!.url;
}
