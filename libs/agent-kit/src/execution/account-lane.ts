import type { Address, PublicClient } from 'viem';

// How long our own count of nonces outweighs that of an RPC node that has not seen our last transaction yet.
const NONCE_MEMORY_MS = 30_000;

/** One piece of work at a time for an account, so that parallel operations never take the same nonce. */
export class AccountLane {
  #tail: Promise<unknown> = Promise.resolve();
  #lastSent = { nonce: -1, atMs: 0 };

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Only inside `run`. */
  async readNextNonce(client: PublicClient, address: Address): Promise<number> {
    const pending = await client.getTransactionCount({ address, blockTag: 'pending' });
    const isFresh = Date.now() - this.#lastSent.atMs < NONCE_MEMORY_MS;
    return isFresh ? Math.max(pending, this.#lastSent.nonce + 1) : pending;
  }

  noteSent(nonce: number): void {
    if (nonce > this.#lastSent.nonce) this.#lastSent = { nonce, atMs: Date.now() };
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
