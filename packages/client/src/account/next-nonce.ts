import { isDelegated, PaymentError, type Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import { sleep } from '../network/sleep.js';
import type { AccountMemory, LastMined } from './account-memory.js';
import type { PollLimits } from './read-at-block.js';
import { sendBytes } from './send-bytes.js';

export interface NonceSource {
  address: Hex;
  memory: AccountMemory;
  /** Asks whichever node answers. */
  chain: PublicClient;
  /** One for each RPC server. */
  servers: readonly PublicClient[];
  patience: PollLimits;
}

/**
 * The nonce of the account's next call: never one that this process has used, however far a node is behind. An account
 * with delegated code gets one once the transaction before it is mined, since nodes take one at a time from it.
 * @throws PaymentError `wrong_chain` when the chain has lost a mined transaction; `cannot_pay` when an account with
 * delegated code has a transaction in flight; or what the client throws
 */
export async function takeNonce(source: NonceSource): Promise<number> {
  const { address, chain, memory } = source;
  const [counted, code] = await Promise.all([
    chain.getTransactionCount({ address, blockTag: 'pending' }),
    chain.getCode({ address }),
  ]);
  const { mined } = memory;
  if (mined !== null && counted <= mined.nonce) await assertSameChain(source, mined);
  await sendMissing(source, counted);
  const nonce = memory.nextNonce(counted);
  if (isDelegated(code)) await awaitEarlier(source, nonce);
  return nonce;
}

/** The node counts less than is mined: it is behind, or the chain is another one, whose nonces cannot be told. */
async function assertSameChain({ chain, memory }: NonceSource, mined: LastMined): Promise<void> {
  // Null: the node does not have the block yet.
  const block = await chain.getBlock({ blockNumber: mined.blockNumber }).catch(() => null);
  if (block === null || block.hash === mined.blockHash) return;
  const receipt = await chain.getTransactionReceipt({ hash: mined.txHash }).catch(() => null);
  if (receipt !== null) return memory.noteMined(mined.nonce, receipt);
  memory.clear();
  throw new PaymentError(
    'wrong_chain',
    `The chain no longer has the transaction ${mined.txHash}: it is another chain, or a reorganisation has dropped it.`,
    {
      hint: 'Nothing was sent. Check the RPC server; the next call goes by what the chain says now.',
      details: { txHash: mined.txHash },
    },
  );
}

/**
 * The node lacks transactions that were accepted, perhaps because its pool has dropped them: without them, it would not
 * mine the next one. A nonce whose bytes are refused now is free again.
 */
async function sendMissing({ memory, servers }: NonceSource, counted: number): Promise<void> {
  for (const missing of memory.listMissing(counted)) {
    const { kind } = await sendBytes(servers, missing);
    if (kind === 'refused') memory.forgetOpen(missing.nonce);
  }
}

async function awaitEarlier({ address, chain, patience }: NonceSource, nonce: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if ((await chain.getTransactionCount({ address })) >= nonce) return;
    if (attempt >= patience.attempts) break;
    await sleep(patience.intervalMs, null);
  }
  throw new PaymentError('cannot_pay', 'The account has delegated code, and its last transaction is not mined yet.', {
    hint: 'Nodes take one transaction at a time from such an account: wait for it, speed it up or cancel it.',
    details: { nonce },
  });
}
