// A Worker that pays, sells, follows jobs and reads a chain. Its parts are created where a Worker's usually are: in the
// global scope, in which timers, requests and random numbers are refused.
import { AgentKit } from '@tollgate/agent-kit';
import { createWallet, fetchWithPayment, signAndSend } from '@tollgate/client';
import { createJobsClient } from '@tollgate/client/jobs';
import { PaymentGate } from '@tollgate/middleware';
import { paid as paidHono } from '@tollgate/middleware/hono';
import { paid as paidNext } from '@tollgate/middleware/next';
import { Hono } from 'hono';

import type { WorkerSettings } from './start-workers.js';

declare const SETTINGS: WorkerSettings;

const warnings: string[] = [];
console.warn = (text: string) => void warnings.push(text);

const { privateKey, rpcUrl, asset, chainId, payTo, facilitatorUrl, jobsUrl, apiKey } = SETTINGS;
const wallet = createWallet({ account: privateKey, rpcUrl, chainId });
const payingFetch = fetchWithPayment(fetch, wallet, {
  assets: [{ network: 'chain-testnet', chainId, address: asset, decimals: 6 }],
  maxAmount: '0.01',
});
const jobs = createJobsClient({ baseUrl: jobsUrl, apiKey, retryForMs: 0 });
const kit = new AgentKit(privateKey, 'offline', { rpcUrl, networkRetryDelayMs: 0 });
const gate = new PaymentGate({
  facilitator: { url: facilitatorUrl },
  payTo,
  chainId,
  asset: { address: asset, name: 'USDC', version: '2', decimals: 6 },
});
const sellQuote = paidNext(gate, { price: '0.001' }, () => Response.json({ by: 'next' }));

const app = new Hono();
app.get('/hono', paidHono(gate, { price: '0.001' }), (context) => context.json({ by: 'hono' }));
app.get('/next', (context) => sellQuote(context.req.raw));
app.get('/buy', async (context) => {
  const headers = { 'Idempotency-Key': context.req.query('key') ?? '' };
  return payingFetch(new Request(context.req.query('url') ?? '', { headers }));
});
app.get('/send', async (context) => {
  const { outcome } = await wallet.inTurn(async () =>
    wallet.confirm(await signAndSend(wallet, { to: payTo, data: '0x', value: 1n })),
  );
  return context.json({ outcome });
});
app.get('/job', async (context) => {
  const submitted = jobs.submit({ operation: 'stake', wallet: 'main', input: { amount: '1' } });
  return context.json(await submitted.catch(({ code }: { code: string }) => ({ code })));
});
app.get('/warnings', async (context) => context.json(warnings));
app.get('/balance', async (context) => context.json(await kit.getERC20Balance(asset)));
app.onError((error, context) => context.text(error.stack ?? error.message, 500));

export default app;
