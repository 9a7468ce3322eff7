import type { Hex, SignedAuthorization, SignedPermit } from '@tollgate/protocol';

/**
 * Identifies what is claimed. `transfer`: one `Transfer` log. `transaction`: a whole transaction (policy `receipt`).
 * `authorization`: a transfer caused by an EIP-3009 authorization, the same payment however it is presented. `permit2`:
 * one Permit2 nonce of a payer, as decimal text; it is used once, whatever the token and amount.
 */
export type PaymentId =
  | { kind: 'transfer'; chainId: number; txHash: Hex; logIndex: number }
  | { kind: 'transaction'; chainId: number; txHash: Hex }
  | { kind: 'authorization'; chainId: number; asset: Hex; from: Hex; nonce: Hex }
  | { kind: 'permit2'; chainId: number; owner: Hex; nonce: string };

/**
 * Identifies an entry: a transaction with all its payments, or one signed payment. Every payment's id is also one of
 * these.
 */
export type EntryId = { chainId: number; txHash: Hex } | Extract<PaymentId, { kind: 'authorization' | 'permit2' }>;

/** The place of a payment in its entry. An entry holds all payments of one transaction, or one signed payment. */
export interface EntrySlot {
  /** `tx:<chainId>:<hash>`, `auth:<chainId>:<asset>:<from>:<nonce>` or `permit:<chainId>:<owner>:<nonce>`, lower case. */
  entry: string;
  /** The log's index, `receipt` for a whole transaction, `auth` for an authorization, `permit` for a Permit2 nonce. */
  slot: string;
}

/** The id under which a signed payment is claimed, whichever account sends it. */
export function signedPaymentId(
  { chainId, asset }: { chainId: number; asset: Hex },
  payment: SignedPermit | Pick<SignedAuthorization, 'kind' | 'authorization'>,
): Extract<PaymentId, { kind: 'authorization' | 'permit2' }> {
  if (payment.kind === 'permit2') {
    const { from: owner, nonce } = payment.permit2Authorization;
    return { kind: 'permit2', chainId, owner, nonce };
  }
  const { from, nonce } = payment.authorization;
  return { kind: 'authorization', chainId, asset, from, nonce };
}

/** The entry of a transaction. @throws TypeError for a malformed hash: a bug of the caller, never a verdict */
export function transactionEntry(chainId: number, txHash: string): string {
  return `tx:${natural(chainId, 'chainId')}:${hex(txHash, 64, 'txHash')}`;
}

/** The entry that holds a payment. @throws TypeError for malformed parts */
export function locateEntry(id: EntryId): string {
  return 'nonce' in id ? locatePayment(id).entry : transactionEntry(id.chainId, id.txHash);
}

/** The entry and slot of a payment; letter case makes no difference. @throws TypeError for malformed parts */
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

/** Entry and slot as one text, by which a payment is named outside the ledger: `tx:<chainId>:<hash>:<logIndex>`. */
export function nameOfPayment(id: PaymentId): string {
  const { entry, slot } = locatePayment(id);
  return `${entry}:${slot}`;
}

/** The inverse of `locatePayment`; null when the text is not a payment. */
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

/** The inverse of `nameOfPayment`; null when the text is not a payment's name. */
export function readPaymentName(name: string): PaymentId | null {
  const at = name.lastIndexOf(':');
  const id = readPaymentId({ entry: name.slice(0, Math.max(0, at)), slot: name.slice(at + 1) });
  try {
    return id !== null && nameOfPayment(id) === name ? id : null;
  } catch {
    return null;
  }
}

/** What a payment's id says of its token and its payer, in lower case; null where it says nothing. */
export function partiesOf(id: PaymentId | null): { asset: string | null; payer: string | null } {
  switch (id?.kind) {
    case 'authorization':
      return { asset: id.asset.toLowerCase(), payer: id.from.toLowerCase() };
    case 'permit2':
      return { asset: null, payer: id.owner.toLowerCase() };
    default:
      return { asset: null, payer: null };
  }
}

function natural(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a non-negative integer`);
  return value;
}

/** Allows one spelling of each number: no sign, no leading zero. */
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
