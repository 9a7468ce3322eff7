import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium, type Browser } from 'playwright-core';

import { findChromium } from '../../scripts/setup/install-debian.mjs';
import { startChain } from '../../tools/devnet/chain/chain.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { buildTestWallet } from '../../tools/devnet/test-wallet/build-test-wallet.js';
import { startUpstream, type Upstream } from '../flows/start-upstream.js';

/** A script in every text that comes from outside. */
export const HOSTILE = `</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>'"&`;

type Seller = Upstream & { answer: Parameters<typeof startUpstream>[0] };

export interface Pages {
  readonly stack: Stack;
  readonly browser: Browser;
  readonly upstream: Seller;
}

let pages: Promise<Pages> | undefined;

/** One stack, seller and browser for all files of a Jest worker. They end with the worker. */
export function usePages(): () => Pages {
  let started: Pages | undefined;
  beforeAll(async () => {
    pages ??= start();
    started = await pages;
  }, 120_000);
  beforeEach(() => {
    if (started === undefined) return;
    started.upstream.requests.length = 0;
    started.upstream.answer = (request, response) => {
      const text = JSON.stringify({ path: request.url, note: HOSTILE, made: started?.upstream.requests.length });
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
  });
  return () => {
    if (started === undefined) throw new Error('the pages are there in tests and hooks');
    return started;
  };
}

async function start(): Promise<Pages> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  const upstream = await startUpstream((_request, response) => response.end());
  const file = join(folder, 'routes.yaml');
  const route = `price: "0.01", upstream: "${upstream.url}", timeoutMs: 5000`;
  writeFileSync(
    file,
    `routes:
  - { path: "/v1/notes/*", ${route}, description: ${JSON.stringify(HOSTILE)} }
  - { path: "/v1/before/*", ${route}, settle: before }
  - { path: "/v1/streams/*", ${route}, answer: streamed }
  - { path: /v1/orders, methods: [POST], ${route} }
`,
  );
  const chain = await startChain();
  const stack = await startStack({
    chain,
    book: { folder: join(folder, 'book'), signingKey: randomBytes(32).toString('hex') },
    agentWorkers: 1,
    agentWallets: { main: { approvalAbove: { USDC: '1' } }, refunds: {} },
    env: {
      ROUTES_FILE: file,
      WEATHER_SOURCE: 'sample',
      SIGNED_PAYMENTS: 'true',
      EXPLORER_URL: 'http://127.0.0.1:9',
      CHAIN_NAME: 'Test chain',
      NATIVE_SYMBOL: 'TST',
      TEST_WALLET: await buildTestWallet(folder),
      WALLET_RPC_URL: chain.rpcUrl,
      LOG_UNPAID: 'true',
      LOG_LEVEL: 'debug',
    },
  });
  const browser = await chromium.launch({
    executablePath: findChromium() ?? 'chromium',
    // Root, as in a container, has no sandbox of Chromium's own.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return { stack, browser, upstream };
}
