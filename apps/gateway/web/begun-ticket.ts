import { isHash, isRecord, type Hex } from '@tollgate/protocol';

import { listItemNames, safely } from './purchases.js';

/** A payment that this phone has begun. It holds nothing secret: the lock is public on the chain. */
export interface BegunPayment {
  readonly atMs: number;
  /** Once the wallet has answered. */
  readonly txHash?: Hex;
}

const PREFIX = 'tollgate:ticket:';
const LIFETIME_MS = 86_400_000;

/** What this phone has begun to pay with a ticket. A phone that stores nothing knows it until the page is closed. */
export class BegunTicket {
  readonly #key: string;
  #unkept: BegunPayment | null = null;

  constructor(lock: Hex) {
    this.#key = PREFIX + lock;
    for (const key of listItemNames(PREFIX))
      if ((read(key)?.atMs ?? 0) < Date.now() - LIFETIME_MS) safely(() => localStorage.removeItem(key), undefined);
  }

  read(): BegunPayment | null {
    return read(this.#key) ?? this.#unkept;
  }

  /** A private window, or one whose storage is full, keeps nothing. */
  keep(begun: BegunPayment): void {
    this.#unkept = begun;
    safely(() => localStorage.setItem(this.#key, JSON.stringify(begun)), undefined);
  }

  remove(): void {
    this.#unkept = null;
    safely(() => localStorage.removeItem(this.#key), undefined);
  }
}

function read(key: string): BegunPayment | null {
  const value = safely<unknown>(() => JSON.parse(localStorage.getItem(key) ?? 'null'), null);
  if (!isRecord(value) || typeof value['atMs'] !== 'number') return null;
  const { atMs, txHash } = value;
  return isHash(txHash) ? { atMs, txHash } : { atMs };
}
