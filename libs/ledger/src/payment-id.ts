import type { Hex } from '@tollgate/protocol';

/**
 * What a claim is about. `transfer`: one `Transfer` log. `transaction`: a whole transaction (policy `receipt`).
 * `authorization`: a transfer caused by an EIP-3009 authorization, the same payment whichever way it is presented.
 */
export type PaymentId =
  | { kind: 'transfer'; chainId: number; txHash: Hex; logIndex: number }
  | { kind: 'transaction'; chainId: number; txHash: Hex }
  | { kind: 'authorization'; chainId: number; asset: Hex; from: Hex; nonce: Hex };

/** A payment inside its entry: an entry holds all payments of one transaction, or one authorization. */
export interface EntrySlot {
  /** `tx:<chainId>:<hash>` or `auth:<chainId>:<asset>:<from>:<nonce>`, lower case. */
  entry: string;
  /** The log's index, `receipt` for a whole transaction, `auth` for an authorization. */
  slot: string;
}

/** The entry of a transaction. Throws a TypeError when the hash is none: a caller's mistake, never a verdict. */
export function transactionEntry(chainId: number, txHash: string): string {
  return `tx:${natural(chainId, 'chainId')}:${hex(txHash, 64, 'txHash')}`;
}

/** Names the entry and slot of a payment; upper and lower case name the same one. Throws a TypeError on bad parts. */
export function locatePayment(id: PaymentId): EntrySlot {
  switch (id.kind) {
    case 'transfer':
      return { entry: transactionEntry(id.chainId, id.txHash), slot: String(natural(id.logIndex, 'logIndex')) };
    case 'transaction':
      return { entry: transactionEntry(id.chainId, id.txHash), slot: 'receipt' };
    case 'authorization': {
      const parts = [hex(id.asset, 40, 'asset'), hex(id.from, 40, 'from'), hex(id.nonce, 64, 'nonce')];
      return { entry: `auth:${natural(id.chainId, 'chainId')}:${parts.join(':')}`, slot: 'auth' };
    }
  }
}

/** The inverse of `locatePayment`; null when the text names no payment. */
export function readPaymentId({ entry, slot }: EntrySlot): PaymentId | null {
  const [kind, chain, first, from, nonce] = entry.split(':');
  const chainId = Number(chain);
  if (kind === 'tx' && first) {
    const txHash = first as Hex;
    return slot === 'receipt'
      ? { kind: 'transaction', chainId, txHash }
      : { kind: 'transfer', chainId, txHash, logIndex: Number(slot) };
  }
  if (kind === 'auth' && first && from && nonce) {
    return { kind: 'authorization', chainId, asset: first as Hex, from: from as Hex, nonce: nonce as Hex };
  }
  return null;
}

function natural(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a natural number`);
  return value;
}

function hex(value: string, digits: number, name: string): string {
  const lower = value.toLowerCase();
  if (lower.length !== digits + 2 || !/^0x[0-9a-f]+$/.test(lower)) {
    throw new TypeError(`${name} must be 0x and ${digits} hexadecimal digits`);
  }
  return lower;
}
