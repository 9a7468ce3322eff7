import type { BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';

import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { waitFor } from '../harness/retry.js';
import type { Pages } from './use-pages.js';

type Handler = (params: unknown[], forward: () => Promise<unknown>) => unknown;

/** A wallet of the test's own: what a page asks of it, and what it does instead of forwarding to the chain. */
export class ScriptedWallet {
  readonly asked: { method: string; params: unknown[] }[] = [];
  readonly handlers = new Map<string, Handler>();

  constructor(
    private readonly rpcUrl: string,
    private readonly account: string,
  ) {}

  /** Refuses a call, as EIP-1193 has it. */
  refuse(method: string, code: number, message = 'refused'): void {
    this.handlers.set(method, () => {
      throw Object.assign(new Error(message), { code });
    });
  }

  /** Sends the next transaction to the chain, and never tells the page; resolves to its hash. */
  sendSilently(): Promise<string> {
    return new Promise((resolve) => {
      this.handlers.set('eth_sendTransaction', async (_params, forward) => {
        resolve(String(await forward()));
        return new Promise(() => undefined);
      });
    });
  }

  countOf(method: string): number {
    return this.asked.filter((one) => one.method === method).length;
  }

  async request(method: string, params: unknown[]): Promise<unknown> {
    this.asked.push({ method, params });
    const forward = () => this.#forward(method, params);
    const handler = this.handlers.get(method);
    return handler === undefined ? forward() : handler(params, forward);
  }

  #forward(method: string, params: unknown[]): Promise<unknown> {
    if (method === 'eth_requestAccounts') return Promise.resolve([this.account]);
    if (method !== 'eth_signTypedData_v4') return callRpc(this.rpcUrl, method, params);
    return callRpc(this.rpcUrl, method, [params[0], JSON.parse(String(params[1]))]);
  }
}

/** A person with a browser: its tabs share storage, and what must not happen in any of them is counted. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly wallet: ScriptedWallet;
  /** Violations of the pages' policy, requests to other hosts, dialogs and errors. */
  readonly faults: string[];
  open(path: string): Promise<Page>;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** Without it the visitor's wallet is in `window.ethereum`, and the test wallet is not announced. */
  readonly hasTestWallet?: boolean;
  readonly hasNoWallet?: boolean;
}

let visitors = 0;

export async function createVisitor({ stack, browser }: Pages, options: VisitorOptions = {}): Promise<Visitor> {
  const { hasTestWallet = false, hasNoWallet = false, baseURL = stack.baseUrl, ...contextOptions } = options;
  const { rpcUrl, accounts } = stack.chain;
  // One account each: the nonces of anvil's accounts must not collide. The first is the test wallet's.
  const wallet = new ScriptedWallet(rpcUrl, accounts[1 + (visitors++ % (accounts.length - 1))]!.address);
  const context = await browser.newContext(contextOptions);
  const faults: string[] = [];
  await context.exposeBinding('askWallet', async (_source, method: string, params: unknown[]) => {
    try {
      return { result: await wallet.request(method, params) };
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string };
      return { error: { code, message } };
    }
  });
  await context.exposeBinding('reportViolation', ({ page, frame }, what: string) => {
    // A sold page in its frame is refused everything, as it should be.
    if (frame === page.mainFrame()) faults.push(`policy: ${what}`);
  });
  await context.addInitScript(prepareWindow, { hasWallet: !hasTestWallet && !hasNoWallet, hasTestWallet });
  context.on('dialog', (dialog) => void dialog.dismiss().then(() => faults.push(`dialog: ${dialog.message()}`)));
  context.on('weberror', (error) => faults.push(`error: ${error.error().message}`));
  const noteRequest = (request: Request): void => {
    const { protocol, origin } = new URL(request.url());
    const isOwn = ['data:', 'blob:'].includes(protocol) || origin === baseURL;
    if (!isOwn && !(hasTestWallet && origin === rpcUrl)) faults.push(`request: ${request.url()}`);
  };
  context.on('requestfinished', noteRequest);
  // One that the policy refused was never sent.
  context.on('requestfailed', (request) => request.failure()?.errorText !== 'csp' && noteRequest(request));
  return {
    context,
    wallet,
    faults,
    open: async (path) => {
      const page = await context.newPage();
      await page.goto(new URL(path, baseURL).href);
      return page;
    },
  };
}

/** Runs in the browser before a page's own script. */
function prepareWindow({ hasWallet, hasTestWallet }: { hasWallet: boolean; hasTestWallet: boolean }): void {
  const scope = globalThis as unknown as Record<string, (...args: unknown[]) => Promise<Record<string, unknown>>> & {
    addEventListener(type: string, listener: (event: Record<string, unknown>) => void, capture?: boolean): void;
  };
  scope.addEventListener('securitypolicyviolation', (event) => {
    void scope['reportViolation']?.(`${String(event['violatedDirective'])} ${String(event['blockedURI'])}`);
  });
  if (!hasTestWallet) {
    // The devnet's gateway announces its wallet to everybody; here the visitor has another one, or none.
    const stop = (event: Record<string, unknown>): void =>
      (event['stopImmediatePropagation'] as () => void).call(event);
    scope.addEventListener('eip6963:announceProvider', stop, true);
  }
  if (!hasWallet) return;
  const request = async ({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> => {
    const answer = await scope['askWallet']?.(method, params);
    const error = answer?.['error'] as { message: string } | undefined;
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return answer?.['result'];
  };
  Object.assign(globalThis, { ethereum: { request } });
}

/** Waits until the page shows this status. */
export async function statusOf(page: Page, expected: RegExp | string): Promise<string> {
  const status = page.locator('#status', { hasText: expected });
  await status.waitFor({ timeout: 60_000 });
  return (await status.textContent()) ?? '';
}

/** Waits until a purchase is in storage. */
export async function untilKept(page: Page): Promise<void> {
  await waitFor('a purchase in storage', async () => (await keptBy(page)) !== '[]');
}

/** The purchases in the browser's storage. */
export function keptBy(page: Page): Promise<string> {
  return page.evaluate(() =>
    JSON.stringify(Object.entries((globalThis as unknown as { localStorage: object }).localStorage)),
  );
}
