import { setTimeout as sleep } from 'node:timers/promises';

import type { Address, PublicClient } from 'viem';

// How long an RPC node may be behind our own count of nonces before it is believed.
const NODE_DELAY_MS = 2_000;
const POLL_MS = 200;

/** One piece of work at a time for an account, so that parallel operations never take the same nonce. */
export class AccountLane {
  #tail: Promise<unknown> = Promise.resolve();
  #lastNonce = -1;

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Only inside `run`. A node that has not seen our last transaction yet gets a moment to. Then its count is taken: the
   * transaction was lost, or the chain is a new one. Should it still exist, its nonce lets only one of the two be mined.
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

/** The same lane for every kit of this process that has the account; another process is another matter. */
export function findAccountLane(chainId: number, address: Address): AccountLane {
  const key = `${chainId}:${address.toLowerCase()}`;
  const lane = lanes.get(key) ?? new AccountLane();
  lanes.set(key, lane);
  return lane;
}
