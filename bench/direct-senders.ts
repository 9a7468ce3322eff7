import { setTimeout as sleep } from 'node:timers/promises';

import { RpcEndpoint, valueOf } from '@tollgate/chain';
import { createKeySigner, type LaneSigner, type TransactionToSign } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet, DevnetAccount } from '../tools/devnet/chain/chain.js';
import { callRpc } from '../tools/devnet/processes/json-rpc.js';
import { noteProgress } from './fail-when-stalled.js';
import { summarize } from './load.js';
import type { Sample } from './run-rounds.js';

const GWEI = 10n ** 9n;
const BATCH = 64;
const BATCHES_AT_ONCE = 4;
/** A node that has nothing new is asked less and less often. */
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 50;
const LIMITS = { timeoutMs: 60_000, maxBytes: 1 << 25 };

/** The transfer that every sender makes. */
export const TRANSFER = {
  to: '0x00000000000000000000000000000000000a11ce',
  data: '0x',
  value: 1n,
  gas: 21_000n,
} as const;

type TransactionSigner = Pick<LaneSigner, 'address' | 'sign'>;

interface Sending {
  rpc: RpcEndpoint;
  chain: Devnet;
  signer: TransactionSigner;
  count: number;
}

/** Sends all, and returns once they are mined; how long each took, if it can say so. */
type Send = (sending: Sending) => Promise<number[] | void>;

/** Signs as a sender does that uses viem. */
export function createJavaScriptSigner(privateKey: Hex): TransactionSigner {
  const account = privateKeyToAccount(privateKey);
  return { address: account.address, sign: (transaction) => account.signTransaction(transaction) };
}

/** Sends transfers of a new wallet without a journal; by default signs natively, as the services do. */
export async function sendDirectly(
  chain: Devnet,
  send: Send,
  { wallet, count, createSigner = createKeySigner }: DirectTerms,
): Promise<Sample> {
  const rpc = new RpcEndpoint({ url: chain.rpcUrl, connections: 8, callsPerRequest: BATCH }, chain.chainId);
  try {
    const signer = createSigner(wallet.privateKey);
    const startedMs = performance.now();
    const timesMs = (await send({ rpc, chain, signer, count })) ?? [];
    return summarize(count, performance.now() - startedMs, timesMs);
  } finally {
    await rpc.close();
  }
}

export interface DirectTerms {
  wallet: DevnetAccount;
  count: number;
  createSigner?: (privateKey: Hex) => TransactionSigner;
}

/** The naive sender: nonce, signature, send, and wait for the receipt before the next. */
export async function sendNaively({ rpc, chain, signer, count }: Sending): Promise<number[]> {
  const timesMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const startedMs = performance.now();
    const nonce = Number(await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [signer.address, 'latest']));
    const hashes = await askEach(rpc, 'eth_sendRawTransaction', [await sign(signer, chain, nonce)]);
    const isMined = async () => (await askEach(rpc, 'eth_getTransactionReceipt', hashes))[0] !== null;
    for (let pauseMs = 1; !(await isMined()); pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
      await sleep(pauseMs);
    }
    noteProgress();
    timesMs.push(performance.now() - startedMs);
  }
  return timesMs;
}

/** The fastest sender of one process that stores nothing: signs and sends in batches, several in flight at once. */
export async function sendPipelined(sending: Sending): Promise<void> {
  await sendInBatches(sending);
}

/** The same, and reads each receipt: what a sender without a journal needs to say how each transaction ended. */
export async function sendAndReadReceipts(sending: Sending): Promise<void> {
  const hashes = await sendInBatches(sending);
  for (let first = 0; first < hashes.length; first += BATCH * BATCHES_AT_ONCE) {
    await askEach(sending.rpc, 'eth_getTransactionReceipt', hashes.slice(first, first + BATCH * BATCHES_AT_ONCE));
  }
}

async function sendInBatches({ rpc, chain, signer, count }: Sending): Promise<unknown[]> {
  const hashes: unknown[] = [];
  const underway = new Set<Promise<void>>();
  for (let first = 0; first < count; first += BATCH) {
    const batch: Hex[] = [];
    for (let nonce = first; nonce < Math.min(first + BATCH, count); nonce++) {
      batch.push(await sign(signer, chain, nonce));
    }
    const sent = askEach(rpc, 'eth_sendRawTransaction', batch)
      .then((own) => void hashes.push(...own))
      .finally(() => underway.delete(sent));
    underway.add(sent);
    if (underway.size >= BATCHES_AT_ONCE) await Promise.race(underway);
  }
  await Promise.all(underway);
  await waitUntilMined(chain.rpcUrl, signer.address, count);
  return hashes;
}

function sign(signer: TransactionSigner, { chainId }: Devnet, nonce: number): Promise<Hex> {
  const fees = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
  const transaction: TransactionToSign = { chainId, nonce, ...TRANSFER, ...fees };
  return signer.sign(transaction);
}

async function askEach(rpc: RpcEndpoint, method: string, params: readonly unknown[]): Promise<unknown[]> {
  const { results } = await rpc.post(
    params.map((param) => ({ method, params: [param] })),
    LIMITS,
  );
  return results.map((result) => valueOf(result, method));
}

/** Until the chain has mined them all. */
async function waitUntilMined(rpcUrl: string, sender: Hex, count: number): Promise<void> {
  let before = -1;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)) {
    const mined = Number(await callRpc(rpcUrl, 'eth_getTransactionCount', [sender, 'latest']));
    if (mined >= count) return;
    if (mined > before) {
      noteProgress();
      pauseMs = 20;
    }
    before = mined;
    await sleep(pauseMs);
  }
}
