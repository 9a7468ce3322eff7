import { validityOf, type Hex, type SignedPayment } from '@tollgate/protocol';

import type { SignedTransaction } from '../account/signed-transaction.js';
import type { Offer } from '../offer/signable-requirement.js';

/**
 * - `intended`: chosen, nothing signed; no money can have moved.
 * - `signed`: the transaction or authorization exists and may have been sent; only this payment may be used for the
 *   request.
 * - `released`: as `signed`, and the server has said that the payment is not spent and may be used again.
 * - `moved`: another request uses it, which has it under a key of its own.
 * - `redeemed`: the complete answer has reached the caller, or the caller did not want the rest of it.
 * - `failed`: the transaction was mined and reverted, and its block is final.
 * - `replaced`: another transaction has finally taken its nonce, so it can never be mined; or its authorization expired
 *   unused.
 * - `abandoned`: given up by the user.
 */
export type PaymentState =
  | 'intended'
  | 'signed'
  | 'released'
  | 'moved'
  | 'redeemed'
  | 'failed'
  | 'replaced'
  | 'abandoned';

/**
 * The data that must survive a crash to redeem a payment. Any reader of it can redeem it: keep it as private as a
 * password.
 */
export interface StoredPayment {
  state: PaymentState;
  method: string;
  url: string;
  /** Of method, URL and body of the request that it is for. */
  requestHash: string;
  /** What is sent with it. */
  idempotencyKey: string;
  chainId: number;
  payer: Hex;
  requirement: Offer;
  createdAtMs: number;
  /** Null while `intended`, and if an authorization pays. */
  transaction: SignedTransaction | null;
  /** The payment of a `SignableRequirement`; null while `intended`. */
  authorization: SignedPayment | null;
  /** How often another request than the one before has used it. */
  moves: number;
  /** The request that has taken it, as long as it may not have it yet. */
  movedTo: PaymentMove | null;
}

export interface PaymentMove {
  /** Of the request in the store. */
  key: string;
  url: string;
  requestHash: string;
  /** The revision that the payment is written after. */
  afterRevision: number;
}

/** The parts of a payment that are needed to fetch its answer: with its transaction, or with its authorization. */
export interface RedeemablePayment extends Pick<
  StoredPayment,
  'method' | 'url' | 'idempotencyKey' | 'payer' | 'requirement' | 'authorization'
> {
  transaction: Pick<SignedTransaction, 'txHash'> | null;
}

export interface StoredRevision {
  payment: StoredPayment;
  /** 1 for the first write under a key, and one more for each further write. */
  revision: number;
}

/**
 * Stores payments under the key of their request. Several processes may share one store.
 *
 * `write` must be atomic and durable: of two writers that read the same revision exactly one may succeed, and a
 * successful write must survive a crash. Otherwise two transactions may be signed for one request.
 */
export interface PaymentStore {
  /** True where payments are lost with the process: then a signature is preferred to a transfer, which moves money at once. */
  readonly isVolatile?: boolean;
  read(key: string): Promise<StoredRevision | null>;
  /** Writes if the newest revision still is `afterRevision` (0: none); false when another writer was faster. */
  write(key: string, payment: StoredPayment, afterRevision: number): Promise<boolean>;
  /** The newest revision of every key. */
  list(): Promise<({ key: string } & StoredRevision)[]>;
}

/**
 * In memory only, so payments are lost with the process: for browsers, tests, and where a lost payment is acceptable.
 */
export class MemoryPaymentStore implements PaymentStore {
  readonly isVolatile = true;
  readonly #revisions = new Map<string, StoredRevision>();

  async read(key: string): Promise<StoredRevision | null> {
    return this.#revisions.get(key) ?? null;
  }

  async write(key: string, payment: StoredPayment, afterRevision: number): Promise<boolean> {
    if ((this.#revisions.get(key)?.revision ?? 0) !== afterRevision) return false;
    this.#revisions.set(key, { payment: structuredClone(payment), revision: afterRevision + 1 });
    return true;
  }

  async list(): Promise<({ key: string } & StoredRevision)[]> {
    return [...this.#revisions].map(([key, stored]) => ({ key, ...stored }));
  }
}

/**
 * Notes what became of a signed payment, also if another call has changed its record since it was read.
 * @returns whether it was noted
 */
export async function noteState(
  store: PaymentStore,
  key: string,
  { payment, revision }: StoredRevision,
  state: PaymentState,
): Promise<boolean> {
  if (await store.write(key, { ...payment, state }, revision)) return true;
  const now = await store.read(key);
  if (now?.payment.state !== 'signed' || now.payment.createdAtMs !== payment.createdAtMs) return false;
  return store.write(key, { ...now.payment, state }, now.revision);
}

/** True while the payment may be presented for its request. */
export const isRedeemable = ({ state }: StoredPayment): boolean => state === 'signed' || state === 'released';

/**
 * Gives up a stored payment, so that the next call with the same request makes a new one. Money that was paid is not
 * returned.
 */
export async function abandonPayment(store: PaymentStore, key: string): Promise<boolean> {
  const stored = await store.read(key);
  if (!stored || !isRedeemable(stored.payment)) return false;
  return store.write(key, { ...stored.payment, state: 'abandoned' }, stored.revision);
}

/** From this time on it cannot move tokens. */
export function endsAtMs(payment: SignedPayment): number {
  return Number(validityOf(payment).validBefore) * 1000;
}
