import type { Hex } from '@tollgate/protocol';
import type { TransactionReceipt } from 'viem';

import type { SignedTransaction } from './signed-transaction.js';

/** The transaction of this process with the highest nonce of those that were seen mined. */
export interface LastMined {
  nonce: number;
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
}

/**
 * What this process knows about the transactions of one account. Nodes that are behind know less, and
 * nothing here is forgotten because time has passed: a nonce that was used is never used for another call.
 */
export class AccountMemory {
  #tail: Promise<unknown> = Promise.resolve();
  /** Bytes that a node has accepted and whose outcome is not known. */
  readonly #open = new Map<number, SignedTransaction>();
  #mined: LastMined | null = null;
  /** The highest nonce that another program's transaction was found to have taken. */
  #taken = -1;
  #floor: bigint | null = null;

  /** Runs one task at a time. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** The highest block that is known to have a transaction of the account; null before the first. */
  get floor(): bigint | null {
    return this.#floor;
  }

  get mined(): LastMined | null {
    return this.#mined;
  }

  /** The lowest nonce that is neither counted by the node nor used by this process. */
  nextNonce(counted: number): number {
    let nonce = Math.max(counted, this.#lastUsed + 1);
    while (this.#open.has(nonce)) nonce += 1;
    return nonce;
  }

  /** Whether a transaction of this process has the nonce. */
  isUsed(nonce: number): boolean {
    return this.#open.has(nonce) || nonce <= this.#lastUsed;
  }

  /** Accepted bytes that a node with this count does not have, in the order of their nonces. */
  listMissing(counted: number): SignedTransaction[] {
    return [...this.#open.values()].filter(({ nonce }) => nonce >= counted).sort((a, b) => a.nonce - b.nonce);
  }

  noteAccepted(signed: SignedTransaction): void {
    this.#open.set(signed.nonce, signed);
  }

  /** Its receipt was seen. */
  noteMined(nonce: number, { transactionHash, blockNumber, blockHash }: TransactionReceipt): void {
    this.noteBlock(blockNumber);
    if (this.#mined === null || nonce >= this.#mined.nonce) {
      this.#mined = { nonce, txHash: transactionHash, blockNumber, blockHash };
    }
    for (const known of this.#open.keys()) if (known <= nonce) this.#open.delete(known);
  }

  /** A transaction of another program with the key was mined with the nonce. */
  noteTaken(nonce: number): void {
    this.#taken = Math.max(this.#taken, nonce);
    this.#open.delete(nonce);
  }

  /** A transaction of the account is in this block. */
  noteBlock(blockNumber: bigint): void {
    if (this.#floor === null || blockNumber > this.#floor) this.#floor = blockNumber;
  }

  /** No node takes these bytes any more: their nonce is free for another call, and one of the two at most is mined. */
  forgetOpen(nonce: number): void {
    this.#open.delete(nonce);
  }

  /** The nonce of a transaction that a node has accepted; null for any other hash. */
  findNonce(txHash: Hex): number | null {
    for (const { txHash: known, nonce } of this.#open.values()) if (known === txHash) return nonce;
    return null;
  }

  get #lastUsed(): number {
    return Math.max(this.#taken, this.#mined?.nonce ?? -1);
  }

  /** The chain is another one. */
  clear(): void {
    this.#open.clear();
    this.#mined = null;
    this.#taken = -1;
    this.#floor = null;
  }
}

const memories = new Map<string, AccountMemory>();

/** One for all that this process does with an account through an RPC server. Other processes are not coordinated. */
export function findAccountMemory(rpcUrl: string, address: Hex): AccountMemory {
  const key = `${address.toLowerCase()} ${rpcUrl}`;
  const memory = memories.get(key) ?? new AccountMemory();
  memories.set(key, memory);
  return memory;
}
