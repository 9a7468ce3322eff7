import { setTimeout as sleep } from 'node:timers/promises';

import { appendHashLock } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi, numberToHex, type Hex } from 'viem';

import { callRpc } from '../processes/json-rpc.js';
import type { Devnet } from './chain.js';

/** What a transfer needs of a devnet, which may be another process's. */
export type TransferChain = Pick<Devnet, 'rpcUrl' | 'asset' | 'payTo' | 'accounts' | 'blockTimeSeconds'>;

export interface TokenTransfer {
  amountBaseUnits: bigint;
  /** Default: the devnet's recipient. */
  to?: Hex;
  /** Appends the hash lock of this challenge reference to the calldata. */
  lockReference?: string;
}

/** The calldata of one `transfer`, with its hash lock if it has one. */
export function encodeTransfer(
  chain: TransferChain,
  { amountBaseUnits, to = chain.payTo, lockReference }: TokenTransfer,
): Hex {
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountBaseUnits] });
  return lockReference === undefined ? call : appendHashLock(call, lockReference);
}

/**
 * Pays by a token transfer and waits until it is mined, whether it succeeded or not.
 * `from` is one of the devnet's accounts (default: the first); `token` the contract (default: its USDC).
 */
export async function transferTokens(
  chain: TransferChain,
  { from, token = chain.asset, ...transfer }: TokenTransfer & { from?: Hex; token?: Hex },
): Promise<Hex> {
  return sendTransaction(chain, { from, to: token, data: encodeTransfer(chain, transfer) });
}

/** Sends a transaction of an unlocked account and waits until it is mined; a revert is mined too. Returns its hash. */
export async function sendTransaction(
  chain: TransferChain,
  { from = chain.accounts[0]?.address, to, data }: { from?: Hex | undefined; to?: Hex; data: Hex },
): Promise<Hex> {
  // A gas limit of its own: estimating would refuse a transaction that is meant to fail.
  const transaction = { from, data, gas: numberToHex(5_000_000), ...(to === undefined ? {} : { to }) };
  const hash = await inTurn(chain, () => callRpc(chain.rpcUrl, 'eth_sendTransaction', [transaction]));
  await waitUntilMined(chain, hash as Hex);
  return hash as Hex;
}

const turns = new Map<string, Promise<unknown>>();

/**
 * Anvil may give two transactions of one account the same nonce, where the second comes before it has taken the first.
 */
function inTurn({ rpcUrl }: TransferChain, send: () => Promise<unknown>): Promise<unknown> {
  const turn = (turns.get(rpcUrl) ?? Promise.resolve()).then(send, send);
  turns.set(rpcUrl, turn);
  return turn;
}

/** Anvil's automine can strand a transaction that arrives while it mines another: asking for a block frees it. */
export async function waitUntilMined(chain: TransferChain, hash: Hex): Promise<void> {
  const giveUpMs = Date.now() + 60_000;
  for (let tries = 1; Date.now() < giveUpMs; tries++) {
    if ((await callRpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash])) !== null) return;
    if (chain.blockTimeSeconds === null && tries % 10 === 0) await callRpc(chain.rpcUrl, 'evm_mine');
    await sleep(20);
  }
  throw new Error(`transaction ${hash} was not mined within a minute`);
}
