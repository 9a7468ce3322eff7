import { isAddress, isHash, isRecord, X_PAYMENT, PAYMENT_SIGNATURE, type Hex } from '@tollgate/protocol';

import type { ChainFacts, TokenFacts } from './page-data.js';

/** The header that redeems a payment. */
export interface ProofHeader {
  readonly name: typeof X_PAYMENT | typeof PAYMENT_SIGNATURE;
  readonly value: string;
}

/** A purchase that this browser has begun. It is kept before anybody can pay, so that a closed tab loses nothing. */
export interface KeptPurchase {
  /** Opens the hash lock, and gets the answer again: it never leaves this browser but to the gateway. */
  readonly reference: string;
  readonly way: 'transfer' | 'signature' | 'phone' | 'hand';
  readonly atMs: number;
  readonly network: string;
  /** Kept whole: the option may not be offered when the page is opened again. */
  readonly chain: ChainFacts;
  readonly token: TokenFacts;
  readonly amountBaseUnits: string;
  readonly payTo: Hex;
  readonly from?: Hex;
  /** The newest block when the wallet was asked, in hexadecimal. */
  readonly fromBlock?: string;
  readonly txHash?: Hex;
  readonly proof?: ProofHeader;
  /** Whether the gateway may have settled the signature: an attempt ended without an answer that says so. */
  readonly mayHaveMoved?: boolean;
  /** Whether the answer has been received. */
  readonly isRedeemed?: boolean;
  /** How often the seller failed for this payment, and when it may be asked again. */
  readonly releases?: number;
  readonly retryAtMs?: number;
}

/** The most purchases of one URL that were begun, and the most whose calldata was only shown. */
const MOST_KEPT = 5;
const PREFIX = 'tollgate:purchases:';
const WAYS: readonly unknown[] = ['transfer', 'signature', 'phone', 'hand'];

/**
 * Whether this browser has paid or opened a wallet to pay, so that another payment could be a second one. A code for a
 * phone, or calldata, was only shown.
 */
export function isBegun({ way, proof }: KeptPurchase): boolean {
  return proof !== undefined || way === 'transfer' || way === 'signature';
}

/** Whether calldata was shown and nothing else: no phone is waited for, no wallet was opened, and no hash was entered. */
function isOnlyShown({ way, from, proof }: KeptPurchase): boolean {
  return way === 'hand' && from === undefined && proof === undefined;
}

/** The purchases of one URL in this browser's storage, newest first. What is older than the receipt window is deleted. */
export class KeptPurchases {
  readonly #key: string;

  /** @param lifetimeMs how long the gateway gives an answer again */
  constructor(
    url: string,
    private readonly lifetimeMs: number,
  ) {
    this.#key = PREFIX + url;
  }

  list(): KeptPurchase[] {
    const oldest = Date.now() - this.lifetimeMs;
    return parse(readItem(this.#key)).filter(({ atMs }) => atMs > oldest);
  }

  find(reference: string): KeptPurchase | undefined {
    return this.list().find((kept) => kept.reference === reference);
  }

  /** False where the browser keeps nothing (private mode, full storage): then no wallet may be opened. */
  keep(purchase: KeptPurchase): boolean {
    const all = [purchase, ...this.list().filter(({ reference }) => reference !== purchase.reference)];
    const begun = all.filter(isBegun);
    const awaited = all.filter((kept) => !isBegun(kept) && !isOnlyShown(kept));
    // Calldata that was only shown, at each load of the page, must drive out nothing else.
    return this.#write([...begun.slice(0, MOST_KEPT), ...awaited, ...all.filter(isOnlyShown).slice(0, MOST_KEPT)]);
  }

  remove(reference: string): void {
    this.#write(this.list().filter((purchase) => purchase.reference !== reference));
  }

  /** Calls back when another tab changes the purchases of this URL. */
  onChange(changed: () => void): void {
    window.addEventListener('storage', ({ key }) => {
      if (key === this.#key) changed();
    });
  }

  #write(purchases: readonly KeptPurchase[]): boolean {
    try {
      if (purchases.length === 0) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, JSON.stringify(purchases));
      return true;
    } catch {
      return false;
    }
  }
}

/** Deletes the purchases of other URLs that are older than the receipt window too. */
export function sweepPurchases(lifetimeMs: number): void {
  for (const key of listItemNames(PREFIX)) {
    const newest = Math.max(0, ...parse(readItem(key)).map(({ atMs }) => atMs));
    if (newest < Date.now() - lifetimeMs) safely(() => localStorage.removeItem(key), undefined);
  }
}

/** The names in this browser's storage that begin so. */
export function listItemNames(prefix: string): string[] {
  return safely(() => Object.keys(localStorage), []).filter((key) => key.startsWith(prefix));
}

function readItem(key: string): string {
  return safely(() => localStorage.getItem(key), null) ?? '[]';
}

/** What the work returns; `otherwise` where it throws, as storage does that a browser withholds. */
export function safely<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** Storage may have been changed by hand: what is not a purchase is left out. */
function parse(text: string): KeptPurchase[] {
  const value = safely<unknown>(() => JSON.parse(text), []);
  return Array.isArray(value) ? value.filter(isPurchase) : [];
}

function isPurchase(value: unknown): value is KeptPurchase {
  if (!isRecord(value)) return false;
  const { reference, way, atMs, network, amountBaseUnits, payTo, txHash, proof, releases = 0, retryAtMs = 0 } = value;
  const isText = [reference, network, amountBaseUnits].every((one) => typeof one === 'string');
  const isTimed = [atMs, releases, retryAtMs].every((one) => typeof one === 'number');
  const isProof =
    proof === undefined || (isRecord(proof) && typeof proof['value'] === 'string' && isHeader(proof['name']));
  const isNamed = isChain(value['chain']) && isToken(value['token']) && isAddress(payTo);
  return isText && isTimed && isNamed && WAYS.includes(way) && (txHash === undefined || isHash(txHash)) && isProof;
}

function isChain(value: unknown): value is ChainFacts {
  return isRecord(value) && Number.isInteger(value['id']) && typeof value['name'] === 'string';
}

function isToken(value: unknown): value is TokenFacts {
  if (!isRecord(value)) return false;
  return isAddress(value['address']) && typeof value['symbol'] === 'string' && Number.isInteger(value['decimals']);
}

function isHeader(name: unknown): boolean {
  return name === X_PAYMENT || name === PAYMENT_SIGNATURE;
}
