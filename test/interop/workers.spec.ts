import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { startSigningShop, type SigningShop } from '../../packages/client/test/signing-shop.js';
import { VERSIONS } from '../../packages/middleware/test/create-payment.js';
import { startFacilitator, type ScriptedFacilitator } from '../../packages/middleware/test/start-facilitator.js';
import { startChain, type Devnet } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startWorkers, type Workers } from './workers/start-workers.js';

/** The first date has neither Node's modules and globals nor FinalizationRegistry; the second has all of them. */
const DATES = ['2024-10-14', '2026-11-01'];

let chain: Devnet;
let shop: SigningShop;
let facilitator: ScriptedFacilitator;
let redirecting: Server;
let workers: Workers | undefined;

beforeAll(async () => {
  chain = await startChain();
  shop = await startSigningShop(chain, 2);
  facilitator = await startFacilitator();
  redirecting = createServer((_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end());
  await new Promise<void>((listening) => redirecting.listen(0, '127.0.0.1', listening));
  const { rpcUrl, chainId, asset, payTo, accounts } = chain;
  workers = await startWorkers(DATES, {
    rpcUrl,
    chainId,
    asset,
    payTo,
    privateKey: accounts[0]!.privateKey,
    facilitatorUrl: facilitator.url,
    jobsUrl: `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`,
    apiKey: 'tgk_0123456789ab_key',
  });
});

afterAll(async () => {
  await workers?.stop();
  redirecting.close();
  await Promise.all([shop.close(), facilitator.stop(), chain.stop()]);
});

describe.each(DATES)('in a Cloudflare Worker of %s', (date) => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${workers?.urls[date]}${path}`, { headers, redirect: 'manual' });

  it('the client buys, and finds its payment in the next request', async () => {
    const before = shop.shown.length;
    const path = `/buy?key=order-${date}&url=${encodeURIComponent(shop.url)}`;
    expect(await (await ask(path)).text()).toBe('the goods');
    shop.interfere.push((response) => void response.end('the goods again'));
    expect(await (await ask(path)).text()).toBe('the goods again');
    const nonces = shop.shown
      .slice(before)
      .map(({ payment }) => 'authorization' in payment && payment.authorization.nonce);
    expect(nonces).toHaveLength(2);
    expect(new Set(nonces).size).toBe(1);
    expect(await (await ask('/warnings')).json()).toEqual([expect.stringContaining('keeps payments in memory')]);
  });

  it('the client passes a stream on as it comes', async () => {
    shop.interfere.push((response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
      setTimeout(() => response.end('data: 2\n\n'), 20);
    });
    const response = await ask(`/buy?key=stream-${date}&url=${encodeURIComponent(shop.url)}`);
    expect([response.status, await response.text()]).toEqual([200, 'data: 1\n\ndata: 2\n\n']);
  });

  it('the account sends, for two requests at once too', async () => {
    const count = () => callRpc(chain.rpcUrl, 'eth_getTransactionCount', [chain.accounts[0]!.address, 'latest']);
    const before = Number(await count());
    const sent = await Promise.all(['/send', '/send'].map(async (path) => (await ask(path)).json()));
    expect(sent).toEqual(Array(2).fill({ outcome: 'success' }));
    expect(Number(await count())).toBe(before + 2);
  });

  it.each(['hono', 'next'])('the middleware for %s sells', async (framework) => {
    expect((await ask(`/${framework}`)).status).toBe(402);
    const sold = await ask(`/${framework}`, VERSIONS[1].pay());
    expect([sold.status, await sold.json()]).toEqual([200, { by: framework }]);
  });

  it('the jobs client follows no redirect', async () => {
    expect(await (await ask('/job')).json()).toEqual({ code: 'redirect_refused' });
  });

  it('the agent kit reads', async () => {
    expect(await (await ask('/balance')).json()).toMatch(/^999\d{3}/);
  });
});
