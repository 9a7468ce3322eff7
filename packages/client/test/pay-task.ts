import { createWallet, fetchWithPayment, type TrustedAsset } from '@tollgate/client';
import type { Hex } from '@tollgate/protocol';

import { FilePaymentStore } from '../src/file-payment-store.js';

/** One purchase, by a payer whose payments are kept in a directory. */
export interface PayTask {
  url: string;
  rpcUrl: string;
  privateKey: Hex;
  asset: TrustedAsset;
  directory: string;
  idempotencyKey: string | null;
}

/** Pays; the answer in parts. `onEvent` is called with the name of each event. */
export async function* payTask(task: PayTask, onEvent: (type: string) => void = () => undefined) {
  const wallet = createWallet({ account: task.privateKey, rpcUrl: task.rpcUrl, chainId: task.asset.chainId });
  const payingFetch = fetchWithPayment(fetch, wallet, {
    assets: [task.asset],
    maxAmount: '0.001',
    store: new FilePaymentStore(task.directory),
    onEvent: ({ type }) => onEvent(type),
  });
  const headers = task.idempotencyKey ? { 'Idempotency-Key': task.idempotencyKey } : {};
  const { body } = await payingFetch(task.url, { headers });
  for await (const chunk of body ?? []) yield chunk as Uint8Array;
}
