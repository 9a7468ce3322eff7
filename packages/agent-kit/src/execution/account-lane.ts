import { setTimeout as sleep } from 'node:timers/promises';

import type { Address, PublicClient } from 'viem';

// How long our own nonce count takes precedence over that of an RPC node that is behind.
const NODE_DELAY_MS = 2_000;
const POLL_MS = 200;

/** Runs one task at a time for an account, so that parallel operations never take the same nonce. */
export class AccountLane {
  #tail: Promise<unknown> = Promise.resolve();
  #lastNonce = -1;

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Call only inside `run`. Waits a moment for a node that has not seen our last transaction yet, then uses the node's
   * count: the transaction was lost, or the chain is a new one. If the transaction still exists, it shares its nonce
   * with the next one, so only one of the two can be mined.
   */
  async readNextNonce(client: PublicClient, address: Address): Promise<number> {
    const giveUpMs = Date.now() + NODE_DELAY_MS;
    for (;;) {
      const nonce = await client.getTransactionCount({ address, blockTag: 'pending' });
      if (nonce > this.#lastNonce) return nonce;
      if (Date.now() >= giveUpMs) {
        this.#lastNonce = nonce - 1;
        return nonce;
      }
      await sleep(POLL_MS);
    }
  }

  noteSent(nonce: number): void {
    this.#lastNonce = Math.max(this.#lastNonce, nonce);
  }
}

const lanes = new Map<string, AccountLane>();

/** Kits of this process with the same account share one lane. Other processes are not coordinated. */
export function findAccountLane(chainId: number, address: Address): AccountLane {
  const key = `${chainId}:${address.toLowerCase()}`;
  const lane = lanes.get(key) ?? new AccountLane();
  lanes.set(key, lane);
  return lane;
}
