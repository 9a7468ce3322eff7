import { isHash, isRecord, type Hex } from '@tollgate/protocol';

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
    for (const key of listKeys()) if ((read(key)?.atMs ?? 0) < Date.now() - LIFETIME_MS) localStorage.removeItem(key);
  }

  read(): BegunPayment | null {
    return read(this.#key) ?? this.#unkept;
  }

  keep(begun: BegunPayment): void {
    this.#unkept = begun;
    try {
      localStorage.setItem(this.#key, JSON.stringify(begun));
    } catch {
      // A private window, or a full storage.
    }
  }

  remove(): void {
    this.#unkept = null;
    try {
      localStorage.removeItem(this.#key);
    } catch {
      // Nothing was kept.
    }
  }
}

function listKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return [];
  }
}

function read(key: string): BegunPayment | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    if (!isRecord(value) || typeof value['atMs'] !== 'number') return null;
    const { atMs, txHash } = value;
    return isHash(txHash) ? { atMs, txHash } : { atMs };
  } catch {
    return null;
  }
}
