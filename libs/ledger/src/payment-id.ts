import {
  listSignedMethods,
  signedMethodOf,
  type Hex,
  type IdField,
  type SignedPaymentId,
  type SignedTerms,
} from '@tollgate/protocol';

/**
 * Identifies what is claimed. `transfer`: one `Transfer` log. `transaction`: a whole transaction (policy `receipt`). Any
 * other kind is a method's: one signed payment, the same however it is presented.
 */
export type PaymentId =
  | { kind: 'transfer'; chainId: number; txHash: Hex; logIndex: number }
  | { kind: 'transaction'; chainId: number; txHash: Hex }
  | SignedPaymentId;

/**
 * Identifies an entry: a transaction with all its payments, or one signed payment. Every payment's id is also one of
 * these.
 */
export type EntryId = { chainId: number; txHash: Hex } | SignedPaymentId;

/** The place of a payment in its entry. An entry holds all payments of one transaction, or one signed payment. */
export interface EntrySlot {
  /**
   * `tx:<chainId>:<hash>`, or what the method says, such as `auth:<chainId>:<asset>:<from>:<nonce>` or
   * `permit:<chainId>:<owner>:<nonce>`, lower case.
   */
  entry: string;
  /** The log's index, `receipt` for a whole transaction, or what the method says, such as `auth` or `permit`. */
  slot: string;
}

/** The id under which a signed payment is claimed, whichever account sends it. */
export function signedPaymentId(token: { chainId: number; asset: Hex }, payment: SignedTerms): SignedPaymentId {
  return signedMethodOf(payment).idOf(payment, token);
}

/** Whether the id is that of a signed payment. */
export const isSignedId = (id: PaymentId | EntryId): id is SignedPaymentId => !('txHash' in id);

/** The entry of a transaction. @throws TypeError for a malformed hash: a bug of the caller, never a verdict */
export function transactionEntry(chainId: number, txHash: string): string {
  return `tx:${natural(chainId, 'chainId')}:${hex(txHash, 64, 'txHash')}`;
}

/** The entry that holds a payment. @throws TypeError for malformed parts */
export function locateEntry(id: EntryId): string {
  return isSignedId(id) ? locateSigned(id).entry : transactionEntry(id.chainId, id.txHash);
}

/** The entry and slot of a payment; letter case makes no difference. @throws TypeError for malformed parts */
export function locatePayment(id: PaymentId): EntrySlot {
  if (isSignedId(id)) return locateSigned(id);
  const slot = id.kind === 'transaction' ? 'receipt' : String(natural(id.logIndex, 'logIndex'));
  return { entry: transactionEntry(id.chainId, id.txHash), slot };
}

function locateSigned(id: SignedPaymentId): EntrySlot {
  const { prefix, slot, fields } = signedMethodOf(id).id;
  let entry = `${prefix}:${natural(id.chainId, 'chainId')}`;
  for (const name in fields) entry += `:${WRITERS[fields[name] as IdField](fieldOf(id, name), name)}`;
  return { entry, slot };
}

const fieldOf = (id: SignedPaymentId, name: string): string => Reflect.get(id, name) as string;

/** Entry and slot as one text, by which a payment is named outside the ledger: `tx:<chainId>:<hash>:<logIndex>`. */
export function nameOfPayment(id: PaymentId): string {
  const { entry, slot } = locatePayment(id);
  return `${entry}:${slot}`;
}

/** The inverse of `locatePayment`; null when the text is not a payment. */
export function readPaymentId({ entry, slot }: EntrySlot): PaymentId | null {
  const [prefix, chain, ...values] = entry.split(':');
  const chainId = Number(chain);
  if (prefix === 'tx' && values[0]) {
    const txHash = values[0] as Hex;
    return slot === 'receipt'
      ? { kind: 'transaction', chainId, txHash }
      : { kind: 'transfer', chainId, txHash, logIndex: Number(slot) };
  }
  const method = listSignedMethods().find(({ id }) => id.prefix === prefix);
  if (method === undefined) return null;
  const names = Object.keys(method.id.fields);
  if (!names.every((_name, at) => values[at])) return null;
  const fields = Object.fromEntries(names.map((name, at) => [name, values[at]]));
  return { kind: method.kind, chainId, ...fields } as SignedPaymentId;
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
  if (id === null || !isSignedId(id)) return { asset: null, payer: null };
  const { asset, payer } = signedMethodOf(id).id;
  return { asset: asset && fieldOf(id, asset).toLowerCase(), payer: fieldOf(id, payer).toLowerCase() };
}

const WRITERS: Readonly<Record<IdField, (value: string, name: string) => string>> = {
  address: (value, name) => hex(value, 40, name),
  hash: (value, name) => hex(value, 64, name),
  decimal,
};

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
