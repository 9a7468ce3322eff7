import type { Hex, SignedPayment } from '@tollgate/protocol';

/**
 * What a claim is about. `transfer`: one `Transfer` log. `transaction`: a whole transaction (policy `receipt`).
 * `authorization`: a transfer caused by an EIP-3009 authorization, the same payment whichever way it is presented.
 * `permit2`: one nonce of a payer at Permit2, as decimal text; it is taken once, whatever the token and the amount.
 */
export type PaymentId =
  | { kind: 'transfer'; chainId: number; txHash: Hex; logIndex: number }
  | { kind: 'transaction'; chainId: number; txHash: Hex }
  | { kind: 'authorization'; chainId: number; asset: Hex; from: Hex; nonce: Hex }
  | { kind: 'permit2'; chainId: number; owner: Hex; nonce: string };

/** What payments are looked for by: all of one transaction, or one that was signed. Every payment's id is one. */
export type EntryId = { chainId: number; txHash: Hex } | Extract<PaymentId, { kind: 'authorization' | 'permit2' }>;

/** A payment inside its entry: an entry holds all payments of one transaction, or one that was signed. */
export interface EntrySlot {
  /** `tx:<chainId>:<hash>`, `auth:<chainId>:<asset>:<from>:<nonce>` or `permit:<chainId>:<owner>:<nonce>`, lower case. */
  entry: string;
  /** The log's index, `receipt` for a whole transaction, `auth` for an authorization, `permit` for a Permit2 nonce. */
  slot: string;
}

/** What a signed payment is claimed as, whoever sends it. */
export function signedPaymentId(
  { chainId, asset }: { chainId: number; asset: Hex },
  payment: SignedPayment,
): Extract<PaymentId, { kind: 'authorization' | 'permit2' }> {
  if (payment.kind === 'permit2') {
    const { from: owner, nonce } = payment.permit2Authorization;
    return { kind: 'permit2', chainId, owner, nonce };
  }
  const { from, nonce } = payment.authorization;
  return { kind: 'authorization', chainId, asset, from, nonce };
}

/** The entry of a transaction. Throws a TypeError when the hash is none: a caller's mistake, never a verdict. */
export function transactionEntry(chainId: number, txHash: string): string {
  return `tx:${natural(chainId, 'chainId')}:${hex(txHash, 64, 'txHash')}`;
}

/** Names the entry that holds a payment. Throws a TypeError on bad parts. */
export function locateEntry(id: EntryId): string {
  return 'nonce' in id ? locatePayment(id).entry : transactionEntry(id.chainId, id.txHash);
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
    case 'permit2': {
      const [chainId, owner] = [natural(id.chainId, 'chainId'), hex(id.owner, 40, 'owner')];
      return { entry: `permit:${chainId}:${owner}:${decimal(id.nonce, 'nonce')}`, slot: 'permit' };
    }
  }
}

/** The inverse of `locatePayment`; null when the text names no payment. */
export function readPaymentId({ entry, slot }: EntrySlot): PaymentId | null {
  const [kind, chain, first, second, third] = entry.split(':');
  const chainId = Number(chain);
  if (kind === 'tx' && first) {
    const txHash = first as Hex;
    return slot === 'receipt'
      ? { kind: 'transaction', chainId, txHash }
      : { kind: 'transfer', chainId, txHash, logIndex: Number(slot) };
  }
  if (kind === 'auth' && first && second && third) {
    return { kind: 'authorization', chainId, asset: first as Hex, from: second as Hex, nonce: third as Hex };
  }
  if (kind === 'permit' && first && second) return { kind: 'permit2', chainId, owner: first as Hex, nonce: second };
  return null;
}

function natural(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a natural number`);
  return value;
}

/** One spelling of each number: no sign, no leading zero. */
function decimal(value: string, name: string): string {
  if (!/^(?:0|[1-9]\d{0,77})$/.test(value)) throw new TypeError(`${name} must be a decimal integer`);
  return value;
}

function hex(value: string, digits: number, name: string): string {
  const lower = value.toLowerCase();
  if (lower.length !== digits + 2 || !/^0x[0-9a-f]+$/.test(lower)) {
    throw new TypeError(`${name} must be 0x and ${digits} hexadecimal digits`);
  }
  return lower;
}
