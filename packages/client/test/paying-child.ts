import { fetchWithPayment, createWallet, type TrustedAsset } from '@tollgate/client';
import type { Hex } from '@tollgate/protocol';

import { FilePaymentStore } from '../src/file-payment-store.js';

/** Pays once in a process of its own, which kills itself with SIGKILL at the given event, or `reading` the answer. */
interface Task {
  url: string;
  rpcUrl: string;
  privateKey: Hex;
  asset: TrustedAsset;
  directory: string;
  dieAt: string | null;
  idempotencyKey: string | null;
}

const task = JSON.parse(process.env['TASK'] ?? '') as Task;
const wallet = createWallet({ account: task.privateKey, rpcUrl: task.rpcUrl, chainId: task.asset.chainId });
const payingFetch = fetchWithPayment(fetch, wallet, {
  assets: [task.asset],
  maxAmount: '0.001',
  store: new FilePaymentStore(task.directory),
  onEvent: ({ type }) => {
    if (type === task.dieAt) process.kill(process.pid, 'SIGKILL');
  },
});
const headers = task.idempotencyKey ? { 'Idempotency-Key': task.idempotencyKey } : {};
void payingFetch(task.url, { headers }).then(async ({ body }) => {
  for await (const chunk of body ?? []) {
    if (task.dieAt === 'reading') process.kill(process.pid, 'SIGKILL');
    process.stdout.write(chunk as Uint8Array);
  }
});
