import { createWallet, fetchWithPayment, type PaymentStore, type TrustedAsset } from '@tollgate/client';
import type { Hex } from '@tollgate/protocol';

import type { Devnet, DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { FilePaymentStore } from '../src/store/file-payment-store.js';

/** One purchase, by a payer whose payments are kept in a directory. */
export interface PayTask {
  url: string;
  rpcUrl: string;
  privateKey: Hex;
  asset: TrustedAsset;
  /** Null: the store that a client has by default. */
  directory: string | null;
  idempotencyKey: string | null;
  /** Null: the request is a GET. */
  body: string | null;
}

/** A purchase in a process of its own. */
export interface PayingTask extends PayTask {
  /** The event at which it kills itself with SIGKILL, or `reading` the answer. */
  dieAt: string | null;
  /** Whether it runs as where there are no files. */
  hidesFiles?: boolean;
}

/** A purchase by a GET with the store that a client has by default. */
export function createPayTask(
  { rpcUrl, chainId, asset: address }: Devnet,
  { privateKey }: DevnetAccount,
  url: string,
): PayTask {
  const asset = { network: 'chain-testnet', chainId, address, decimals: 6 };
  return { url, rpcUrl, privateKey, asset, directory: null, idempotencyKey: null, body: null };
}

/** Calls `onWrite` after each write. */
function watchWrites(store: PaymentStore, onWrite: () => void): PaymentStore {
  return {
    read: (key) => store.read(key),
    list: () => store.list(),
    write: async (...change) => {
      const isWritten = await store.write(...change);
      onWrite();
      return isWritten;
    },
  };
}

/** Pays; the answer in parts. `onEvent` is called with the name of each event, and with `write 1` and so on. */
export async function* payTask(task: PayTask, onEvent: (type: string) => void = () => undefined) {
  let writes = 0;
  const wallet = createWallet({ account: task.privateKey, rpcUrl: task.rpcUrl, chainId: task.asset.chainId });
  const payingFetch = fetchWithPayment(fetch, wallet, {
    assets: [task.asset],
    maxAmount: '0.001',
    ...(task.directory !== null && {
      store: watchWrites(new FilePaymentStore(task.directory), () => onEvent(`write ${(writes += 1)}`)),
    }),
    onEvent: ({ type }) => onEvent(type),
  });
  const headers = task.idempotencyKey ? { 'Idempotency-Key': task.idempotencyKey } : {};
  const { body } = await payingFetch(task.url, {
    headers,
    ...(task.body !== null && { method: 'POST', body: task.body }),
  });
  for await (const chunk of body ?? []) yield chunk as Uint8Array;
}
