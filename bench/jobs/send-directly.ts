import { setTimeout as sleep } from 'node:timers/promises';

import { RpcEndpoint, valueOf } from '@tollgate/chain';
import { createKeySigner, type LaneSigner } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import type { DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { noteProgress } from '../fail-when-stalled.js';
import { summarize } from '../load/time-each.js';
import type { Sample } from '../run-rounds.js';
import { createTransfer } from './bench-wallet.js';

const BATCH = 64;
const BATCHES_AT_ONCE = 4;
/** A node that has nothing new is asked less and less often. */
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 50;
const LIMITS = { timeoutMs: 60_000, maxBytes: 1 << 25 };

export interface DirectOptions {
  rpcUrl: string;
  chainId: number;
  wallet: DevnetAccount;
  count: number;
  /** Default: signs natively, as the services do. */
  createSigner?: (privateKey: Hex) => TransactionSigner;
}

type TransactionSigner = Pick<LaneSigner, 'address' | 'sign'>;

/** Signs as a sender does that uses viem. */
export function createJavaScriptSigner(privateKey: Hex): TransactionSigner {
  const account = privateKeyToAccount(privateKey);
  return { address: account.address, sign: (transaction) => account.signTransaction(transaction) };
}

/** The naive sender: nonce, signature, send, and wait for the receipt before the next. */
export function sendNaively(options: DirectOptions): Promise<Sample> {
  return withConnection(options, async (rpc, signer) => {
    const timesMs: number[] = [];
    for (let index = 0; index < options.count; index++) {
      const startedMs = performance.now();
      const nonce = Number(await ask(rpc, 'eth_getTransactionCount', [signer.address, 'latest']));
      const hash = await ask(rpc, 'eth_sendRawTransaction', [await sign(signer, options, nonce)]);
      const isMined = async () => (await ask(rpc, 'eth_getTransactionReceipt', [hash])) !== null;
      for (let pauseMs = 1; !(await isMined()); pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
        await sleep(pauseMs);
      }
      noteProgress();
      timesMs.push(performance.now() - startedMs);
    }
    return timesMs;
  });
}

/** The fastest sender of one process that stores nothing: signs and sends in batches, several in flight at once. */
export function sendPipelined(options: DirectOptions): Promise<Sample> {
  return withConnection(options, async (rpc, signer) => void (await sendInBatches(rpc, signer, options)));
}

/** The same, and reads each receipt: what a sender without a journal needs to say how each transaction ended. */
export function sendAndReadReceipts(options: DirectOptions): Promise<Sample> {
  return withConnection(options, async (rpc, signer) => {
    const hashes = await sendInBatches(rpc, signer, options);
    for (let first = 0; first < hashes.length; first += BATCH * BATCHES_AT_ONCE) {
      await askEach(rpc, 'eth_getTransactionReceipt', hashes.slice(first, first + BATCH * BATCHES_AT_ONCE));
    }
  });
}

async function sendInBatches(rpc: RpcEndpoint, signer: TransactionSigner, options: DirectOptions): Promise<unknown[]> {
  const hashes: unknown[] = [];
  const underway = new Set<Promise<void>>();
  for (let first = 0; first < options.count; first += BATCH) {
    const batch: Hex[] = [];
    for (let nonce = first; nonce < Math.min(first + BATCH, options.count); nonce++) {
      batch.push(await sign(signer, options, nonce));
    }
    const sent = sendBatch(rpc, batch)
      .then((own) => void hashes.push(...own))
      .finally(() => underway.delete(sent));
    underway.add(sent);
    if (underway.size >= BATCHES_AT_ONCE) await Promise.race(underway);
  }
  await Promise.all(underway);
  await waitUntilMined(options);
  return hashes;
}

/** The rate of the chain itself: everything is signed before the clock starts. */
export async function sendPresigned(options: DirectOptions): Promise<Sample> {
  const signer = createKeySigner(options.wallet.privateKey);
  const signed: Hex[] = [];
  for (let nonce = 0; nonce < options.count; nonce++) signed.push(await sign(signer, options, nonce));
  return withConnection(options, async (rpc) => {
    await sendBatch(rpc, signed);
    await waitUntilMined(options);
  });
}

async function withConnection(
  options: DirectOptions,
  send: (rpc: RpcEndpoint, signer: TransactionSigner) => Promise<number[] | void>,
): Promise<Sample> {
  const { createSigner = createKeySigner } = options;
  const signer = createSigner(options.wallet.privateKey);
  const rpc = connectEndpoint(options);
  try {
    const startedMs = performance.now();
    const timesMs = (await send(rpc, signer)) ?? [];
    return summarize(options.count, performance.now() - startedMs, timesMs);
  } finally {
    await rpc.close();
  }
}

function sign(signer: TransactionSigner, { chainId }: DirectOptions, nonce: number): Promise<Hex> {
  return signer.sign(createTransfer(chainId, nonce));
}

const sendBatch = (rpc: RpcEndpoint, batch: readonly Hex[]) => askEach(rpc, 'eth_sendRawTransaction', batch);

async function askEach(rpc: RpcEndpoint, method: string, params: readonly unknown[]): Promise<unknown[]> {
  const { results } = await rpc.post(
    params.map((param) => ({ method, params: [param] })),
    LIMITS,
  );
  return results.map((result) => valueOf(result, method));
}

export function connectEndpoint({ rpcUrl, chainId }: Pick<DirectOptions, 'rpcUrl' | 'chainId'>): RpcEndpoint {
  return new RpcEndpoint({ url: rpcUrl, connections: 8, callsPerRequest: BATCH }, chainId);
}

export async function ask(rpc: RpcEndpoint, method: string, params: unknown[]): Promise<unknown> {
  const { results } = await rpc.post([{ method, params }], LIMITS);
  return valueOf(results[0], method);
}

/** Until the chain has mined them all. */
async function waitUntilMined({ rpcUrl, wallet, count }: Omit<DirectOptions, 'chainId'>): Promise<void> {
  let before = -1;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
    const mined = Number(await callRpc(rpcUrl, 'eth_getTransactionCount', [wallet.address, 'latest']));
    if (mined >= count) return;
    if (mined > before) {
      noteProgress();
      pauseMs = 20;
    }
    before = mined;
    await sleep(pauseMs);
  }
}
