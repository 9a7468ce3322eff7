import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { formatTokenAmount } from '@tollgate/protocol';
import type { Hex } from 'viem';

import type { Devnet, DevnetAccount } from '../chain/chain.js';
import { readBalance } from '../chain/read-balance.js';
import { playToEnd } from '../demo/play-to-end.js';
import { showExchange } from '../demo/show-exchange.js';
import { showHeading, showTable } from '../demo/show-job.js';
import { callRpc } from '../processes/json-rpc.js';
import type { KeptParts } from '../processes/keep-parts.js';
import { listenLocally } from '../processes/listen-locally.js';
import { repositoryRoot } from '../processes/repository.js';
import { startHttpTap, type HttpTap, type TappedExchange } from './http-tap.js';
import { startClient, type ClientAnswer, type ClientName } from './start-published.js';

const PAYING: { name: ClientName; packageName: string }[] = [
  { name: 'x402-fetch-v2', packageName: '@x402/fetch' },
  { name: 'mppx', packageName: 'mppx' },
];

const SHOWN_HEADERS = {
  request: ['payment-signature', 'authorization', 'x-payment', 'accept-payment'],
  answer: [
    ...['payment-required', 'www-authenticate', 'payment-response', 'payment-receipt', 'x-payment-response'],
    ...['x-payment-released', 'cache-control'],
  ],
};

const ROUTES = `routes:
  - { path: /broken, price: "0.001", upstream: "\${UPSTREAM}" }
`;

interface Sale {
  packageName: string;
  payer: DevnetAccount;
  buy: () => Promise<ClientAnswer>;
  /** In base units. */
  costs: bigint;
}

/** Shows published clients paying the gateway, and a failed answer that costs nothing. Resolves with the exit code. */
export function runInteropDemo(): Promise<number> {
  return playToEnd(async ({ keep, startServices }) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-routes-'));
    keep({ stop: async () => rmSync(folder, { recursive: true, force: true }) });
    const file = join(folder, 'routes.yaml');
    writeFileSync(file, ROUTES);
    const upstream = createServer((_, response) => {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"the database is gone"}');
    });
    const { url } = keep(await listenLocally(upstream));
    const tap = keep(await startHttpTap());
    const { baseUrl, chain } = await startServices({
      env: { SIGNED_PAYMENTS: 'true', PUBLIC_URL: tap.url, ROUTES_FILE: file, UPSTREAM: url, WEATHER_SOURCE: 'sample' },
    });
    tap.forwardTo(baseUrl);
    await playSales(chain, tap, keep);
    console.log('\nEvery check passed.');
  });
}

async function playSales(chain: Devnet, tap: HttpTap, keep: KeptParts['keep']): Promise<void> {
  const sales: Sale[] = [];
  for (const [index, { name, packageName }] of PAYING.entries()) {
    const payer = chain.accounts[index];
    if (!payer) throw new Error('the devnet has no accounts');
    const client = keep(await startClient(name, chain, { payer }));
    console.log(`✓ ${nameOf(packageName)} pays from ${payer.address}`);
    sales.push({ packageName, payer, buy: () => client.fetch(`${tap.url}/api/weather`), costs: 1000n });
    if (index > 0) continue;
    sales.push({ packageName, payer, buy: () => client.fetch(`${tap.url}/broken`), costs: 0n });
  }

  let step = 0;
  showHeading(++step, 'A request without payment gets one challenge, which every client can read');
  await fetch(`${tap.url}/api/weather`).then((response) => response.text());
  for (const exchange of tap.exchanges.splice(0)) showTapped(exchange);

  for (const sale of sales.sort((one, other) => Number(other.costs - one.costs))) {
    const { packageName, costs } = sale;
    const title =
      costs > 0n
        ? `${nameOf(packageName)} pays, and gets its answer`
        : 'An answer that fails costs nothing: the payment was signed, and is never settled';
    showHeading(++step, title);
    await playSale(chain, tap, sale);
  }
}

function showTapped(exchange: TappedExchange): void {
  showExchange(exchange, SHOWN_HEADERS);
  console.log('');
}

async function playSale(chain: Devnet, tap: HttpTap, { payer, buy, costs }: Sale): Promise<void> {
  const readBoth = () => Promise.all([readBalance(chain, payer.address), readBalance(chain, chain.payTo)]);
  const before = await readBoth();
  const { status, receipt } = await buy();
  const after = await readBoth();
  const [, paid] = tap.exchanges.splice(0);
  if (!paid) throw new Error('the client sent no payment');
  console.log('  The request that the client sent after the 402:\n');
  showTapped(paid);
  const hash = receipt?.['transaction'] ?? receipt?.['reference'];
  if (typeof hash === 'string') await showSettlement(chain, hash as Hex);
  showTable(
    ['', 'before', 'after', 'moved'],
    ['payer', 'payTo'].map((who, index) => {
      const [was = 0n, is = 0n] = [before[index], after[index]];
      return [who, ...[was, is, is - was].map((amount) => formatUsdc(amount))];
    }),
    '  ',
  );
  expectEqual('the status', status, costs > 0n ? 200 : 500);
  expectEqual('what the payer paid', before[0] - after[0], costs);
  expectEqual('what was received', after[1] - before[1], costs);
}

async function showSettlement({ rpcUrl }: Devnet, hash: Hex): Promise<void> {
  const receipt = (await callRpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) as Record<string, string> | null;
  if (receipt === null) throw new Error(`the settlement ${hash} is not on the chain`);
  console.log(`  settlement   ${hash}`);
  console.log(`  sent by      ${receipt['from'] ?? ''}, the verifier's relayer, which pays the gas`);
  console.log(
    `  block        ${Number(receipt['blockNumber'])}, gas ${Number(receipt['gasUsed']).toLocaleString('en-US')}\n`,
  );
}

function formatUsdc(amount: bigint): string {
  return `${amount < 0n ? '-' : ''}${formatTokenAmount(amount < 0n ? -amount : amount, 6)} USDC`;
}

/** With the version that is installed. */
function nameOf(packageName: string): string {
  const manifest = join(repositoryRoot(), 'test', 'interop', 'node_modules', packageName, 'package.json');
  return `${packageName} ${(JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version}`;
}

function expectEqual(what: string, is: unknown, shouldBe: unknown): void {
  if (is !== shouldBe) throw new Error(`expected ${what} to be ${String(shouldBe)}, got ${String(is)}`);
}
