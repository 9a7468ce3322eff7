import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createHashLock } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import {
  answerJson,
  ASSET,
  createRoute,
  PAY_TO,
  send,
  startGateway,
  startLedgerVerifier,
  type LedgerVerifier,
  type RunningGateway,
} from '../../test/start-gateway.js';
import type { PayPageData } from '../../web/page-data.js';

const USDC = ASSET.toLowerCase();
const ETHER = '0x4200000000000000000000000000000000000006';
const SHOP = PAY_TO.toLowerCase();
const SECOND_SHOP = `0x${'5a'.repeat(20)}`;
const PAYMENTS = `chains:
  one: { id: 1328, network: chain-testnet, relayers: '\${RELAYERS}', title: First chain, walletRpc: 'https://one.example', explorer: 'https://scan.example/' }
  two: { id: 31338, network: other-testnet, relayers: '\${RELAYERS}', coin: TWO }
accepts:
  usdc-one: { chain: one, token: '${USDC}', decimals: 6, symbol: USDC, payTo: '${PAY_TO}' }
  usdc-two: { chain: two, token: '${USDC}', decimals: 6, symbol: USDC, payTo: '${SECOND_SHOP}' }
  ether-one: { chain: one, token: '${ETHER}', decimals: 18, symbol: WETH, rate: 0.00026, methods: [permit2, transfer], payTo: '${PAY_TO}' }
`;
const BROWSER = { accept: 'text/html', 'sec-fetch-dest': 'document' };
const PAGE_DATA = { accept: 'application/vnd.tollgate.page+json' };

let folder: string;
let file: string;
let redis: BorrowedRedis;
let gateway: RunningGateway;
let verifiers: LedgerVerifier[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pay-options-'));
  file = join(folder, 'payments.yaml');
  writeFileSync(file, PAYMENTS);
  redis = await borrowRedis();
  verifiers = await Promise.all([startLedgerVerifier(redis.url), startLedgerVerifier(redis.url, 31_338)]);
  const routes = [
    createRoute(() => answerJson('sold')),
    createRoute(() => answerJson('for two'), { path: '/two', accepts: ['usdc-two'] }),
  ];
  gateway = await startGateway(redis.url, routes, { PAYMENTS_FILE: file, SIGNED_PAYMENTS: 'true' });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(verifiers.map((verifier) => verifier.stop()));
  await redis.stop();
  rmSync(folder, { recursive: true });
});

async function openPage(path = '/api/weather'): Promise<{ body: string; data: PayPageData }> {
  const { body } = await send(gateway.port, { path, headers: BROWSER });
  const [, text = ''] = /id="page-data">([^<]*)</.exec(body) ?? [];
  return { body, data: JSON.parse(text) as PayPageData };
}

describe('the page of a request that may be paid in several tokens', () => {
  it('knows each with its chain, price and recipient, and with a reference of its own', async () => {
    const { options } = (await openPage()).data;
    const first = {
      id: 1328,
      name: 'First chain',
      rpcUrl: 'https://one.example',
      nativeSymbol: 'ETH',
      explorerUrl: 'https://scan.example',
    };
    const second = { id: 31_338, name: 'other-testnet', rpcUrl: null, nativeSymbol: 'TWO', explorerUrl: null };
    expect(options).toMatchObject([
      {
        chain: first,
        token: { address: USDC, symbol: 'USDC', decimals: 6 },
        payTo: SHOP,
        amountBaseUnits: '1000',
        price: '0.001 USDC',
        network: 'chain-testnet',
        signs: true,
      },
      {
        chain: second,
        token: { address: USDC },
        payTo: SECOND_SHOP,
        amountBaseUnits: '1000',
        price: '0.001 USDC',
        network: 'other-testnet',
        signs: true,
      },
      {
        chain: first,
        token: { address: ETHER, symbol: 'WETH', decimals: 18 },
        payTo: SHOP,
        amountBaseUnits: '260000000000',
        price: '0.00000026 WETH',
        signs: true,
      },
    ]);
    expect(new Set(options.map(({ reference }) => reference)).size).toBe(3);
  });

  it('says as text what each costs and how it is paid by hand', async () => {
    const { body, data } = await openPage();
    expect(/<h1 id="title">(.*)<\/h1>/.exec(body)?.[1]).toBe(
      'Pay 0.001 USDC on First chain or 0.001 USDC on other-testnet or 0.00000026 WETH on First chain',
    );
    const facts = [...body.matchAll(/<dl id="(facts[^"]*)">([\s\S]*?)<\/dl>/g)];
    expect(facts.map(([, id]) => id)).toEqual(['facts', 'facts-1', 'facts-2']);
    for (const [at, shown] of [
      [SHOP, 'First chain (chain 1328)'],
      [SECOND_SHOP, 'other-testnet (chain 31338)'],
      [ETHER, '0.00000026 WETH'],
    ].entries())
      for (const text of shown) expect(facts[at]?.[2]).toContain(text);
    const byHand = [...body.matchAll(/<details id="(manual[^"]*)"><summary>(.*)<\/summary>([\s\S]*?)<\/details>/g)];
    expect(byHand.map(([, id, summary]) => [id, summary])).toEqual([
      ['manual', 'Pay by hand: 0.001 USDC on First chain'],
      ['manual-1', 'Pay by hand: 0.001 USDC on other-testnet'],
      ['manual-2', 'Pay by hand: 0.00000026 WETH on First chain'],
    ]);
    for (const [at, { reference, network, payTo }] of data.options.slice(0, 2).entries()) {
      // The calldata ends with the lock of that option's reference; the command names its network.
      const [, , , text = ''] = byHand[at] ?? [];
      expect(/0xa9059cbb[0-9a-f]+/.exec(text)?.[0]).toContain(payTo.slice(2));
      expect(/0xa9059cbb[0-9a-f]+/.exec(text)?.[0].endsWith(createHashLock(reference).slice(2))).toBe(true);
      expect(text).toContain(`&quot;network&quot;:&quot;${network}&quot;`);
    }
    expect(new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).size).toBe(
      [...body.matchAll(/ id="/g)].length,
    );
  });

  it('has a ticket for each, whose page names its token, recipient and network', async () => {
    const { options } = (await openPage()).data;
    expect(options.map(({ ticketUrl }) => ticketUrl === null)).toEqual([false, false, false]);
    const { status, body } = await send(gateway.port, { path: options[1]?.ticketUrl ?? '' });
    expect(status).toBe(200);
    for (const text of [
      'Pay 0.001 USDC',
      'other-testnet (chain 31338)',
      SECOND_SHOP,
      createHashLock(options[1]!.reference).slice(2),
    ])
      expect(body).toContain(text);
  });

  it('is refreshed as data with new references, in the 402 whose headers have the same ones', async () => {
    const [one, other] = [await send(gateway.port, { path: '/api/weather', headers: PAGE_DATA }), await openPage()];
    expect([one.status, one.headers['content-type'], one.headers['vary'], one.headers['cache-control']]).toEqual([
      402,
      'application/json; charset=utf-8',
      'Accept',
      'no-store',
    ]);
    const { options } = JSON.parse(one.body) as PayPageData;
    const header = JSON.parse(Buffer.from(String(one.headers['payment-required']), 'base64').toString()) as {
      accepts: { extra: { reference: string } }[];
    };
    expect(header.accepts.map(({ extra }) => extra.reference)).toEqual(options.map(({ reference }) => reference));
    const shown = new Set(other.data.options.map(({ reference }) => reference));
    expect(options.some(({ reference }) => shown.has(reference))).toBe(false);
    const withoutReferences = (list: PayPageData['options']) =>
      list.map((option) => ({ ...option, reference: '', ticketUrl: '' }));
    expect(withoutReferences(options)).toEqual(withoutReferences(other.data.options));
  });

  it('names no option where the route takes one alone', async () => {
    const { body, data } = await openPage('/two');
    expect(data.options).toHaveLength(1);
    expect(body).toContain('<h1 id="title">Pay 0.001 USDC</h1>');
    expect(body).toContain('<summary>Pay by hand</summary>');
  });

  it('is listed with every price on the front page, in llms.txt and in the OpenAPI document', async () => {
    const bodies = await Promise.all(
      ['/', '/llms.txt', '/docs/openapi.json'].map(async (path) => (await send(gateway.port, { path })).body),
    );
    for (const body of bodies) for (const text of ['0.001 USDC', '0.00000026 WETH']) expect(body).toContain(text);
    for (const body of bodies.slice(0, 2)) expect(body).toContain('First chain');
  });

  it('has no option of a chain that no verifier judges now', async () => {
    await verifiers[1]!.stop();
    await waitFor('one chain is left', async () => (await openPage()).data.options.length === 2);
    const { body } = await openPage();
    expect(body).not.toContain('other-testnet');
    verifiers[1] = await startLedgerVerifier(redis.url, 31_338);
    await waitFor('both are back', async () => (await openPage()).data.options.length === 3);
  });

  it('takes name, coin and public server of the chain from the file alone', async () => {
    const env = { PAYMENTS_FILE: file, CHAIN_NAME: 'x', NATIVE_SYMBOL: 'XX', WALLET_RPC_URL: 'https://x.example' };
    await expect(startGateway(redis.url, [], env)).rejects.toThrow(
      'PAYMENTS_FILE replaces CHAIN_NAME, NATIVE_SYMBOL, WALLET_RPC_URL: remove them, or the file.',
    );
    const wallet = startGateway(redis.url, [], { PAYMENTS_FILE: file, TEST_WALLET: file });
    await expect(wallet).rejects.toThrow('WALLET_RPC_URL must be on a loopback address');
  });

  it('has a test wallet for the chains whose nodes are anvil on this machine, and for no other', async () => {
    const node = createServer((_request, response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'anvil/v1.7.1' })),
    );
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    const local = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const wallet = join(folder, 'wallet.js');
    writeFileSync(wallet, '/* wallet */');
    const start = (second: string): Promise<RunningGateway> => {
      const own = join(folder, 'devnet.yaml');
      const text = PAYMENTS.replace('https://one.example', local).replace('coin: TWO', `walletRpc: '${second}'`);
      writeFileSync(own, text);
      return startGateway(redis.url, [createRoute(() => answerJson('sold'))], {
        PAYMENTS_FILE: own,
        TEST_WALLET: wallet,
      });
    };
    try {
      const one = await start(`${local}/second`);
      const { body, headers } = await send(one.port, { path: '/api/weather', headers: BROWSER });
      await one.stop();
      expect(body).toContain(`data-rpc="${local} ${local}/second"`);
      expect(headers['content-security-policy']).toContain(`connect-src 'self' ${local}`);
      await expect(start('https://two.example')).rejects.toThrow('not on this machine');
    } finally {
      node.close();
    }
  });
});
