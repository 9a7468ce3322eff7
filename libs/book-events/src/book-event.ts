import { address, hash32, natural } from '@tollgate/schemas';
import { z } from 'zod';

/** The version of the events that this code reads, in the field `v`. */
export const BOOK_EVENT_VERSION = 1;

/** Longer than any that our processes write. What an event says is indexed: a database refuses long keys. */
const [MOST_CHARACTERS, MOST_NAME, MOST_FACTS] = [16_384, 300, 262_144];
/** The end of the year 9999. Later years are not written as dates everywhere, and the end of JavaScript's dates throws. */
const LAST_MS = 253_402_300_799_999;
/** Text that JSON and databases have: no NUL, and no half of a surrogate pair. */
const words = z
  .string()
  .max(MOST_CHARACTERS)
  .refine((text) => !/\p{Surrogate}/u.test(text) && !text.includes('\0'));
/** A name or code of ours, which is part of keys. */
const name = z
  .string()
  .max(MOST_NAME)
  .regex(/^[\x20-\x7e]*$/);
const time = natural.max(LAST_MS);
/** Base units or wei, as a token or coin has them: less than 2^256 is 78 digits at most. */
const decimal = z.string().regex(/^(?:0|[1-9]\d{0,77})$/);
/** Gas, or wei per gas: the product of two has a place in the book. */
const gas = z.string().regex(/^(?:0|[1-9]\d{0,38})$/);

/** Milliseconds since 1970 on Redis's clock. Null: the step did not happen, or its time is not known. */
const timeline = z.object({
  /** The gateway received the request. */
  presentedAtMs: time,
  /** The gateway had the verdict. */
  verifiedAtMs: time.nullable(),
  claimedAtMs: time.nullable(),
  /** The resource had responded. */
  fulfilledAtMs: time.nullable(),
  settledAtMs: time.nullable(),
});
export type PaymentTimeline = z.output<typeof timeline>;

/** Set where the facilitator settles a payment to another seller's recipient: its money is not ours. */
const forOther = z.literal(true).optional();

/** The request that presents a payment, and the terms it was offered. */
const sale = z.object({
  requestId: words,
  /** The path of the paid route; `facilitator` for a payment of another server. */
  route: words,
  /** As it was sent; missing for a payment of another server. */
  path: words.optional(),
  /** Without the parameters that are left out; missing unless the gateway tells queries. */
  query: words.optional(),
  method: words,
  /** `tx-hash`, or the scheme of the signed payment: `exact`, `upto`, `charge`. */
  scheme: words,
  /** CAIP-2: `eip155:1328`. */
  network: words,
  chainId: natural,
  asset: address,
  payTo: address,
  forOther,
  /** As the chain names it, or as the payer signed; null if it is not known. */
  payer: address.nullable(),
  /** What was paid; null if it is not known. */
  amount: decimal.nullable(),
  price: decimal,
  /** The transaction that moved the money; null for a payment that moved nothing (a metered charge of 0). */
  transaction: hash32.nullable(),
  /** Null where only the transaction is known. */
  logIndex: natural.nullable(),
});
export type SaleFacts = z.output<typeof sale>;

/** A transaction of ours that is final on the chain, with what it cost. */
const transaction = z.object({
  chainId: natural,
  transaction: hash32,
  nonce: natural,
  outcome: z.enum(['success', 'reverted']),
  gasUsed: gas,
  /** Wei per gas; null where the RPC server does not return it. */
  effectiveGasPrice: gas.nullable(),
  blockNumber: natural,
  blockHash: hash32,
  jobId: words,
  operation: words,
});
export type TransactionFacts = z.output<typeof transaction>;

const settledPayment = z.object({
  /** The id of the payment, as in `BookEvent.payment`. */
  payment: name,
  asset: address,
  payTo: address,
  forOther,
  payer: address,
  /** What was moved; null: this transaction did not move it. */
  amount: decimal.nullable(),
  /** The index of the `Transfer` log in its block; null where it is not known. */
  logIndex: natural.nullable(),
});
export type SettledPayment = z.output<typeof settledPayment>;

const FACTS = {
  /** A payment bought an answer: everything about it, since no other event reports its steps. */
  answered: sale.extend({
    /** SHA-256 of method, path, query and body, 22 base64url characters: the ledger's fingerprint. */
    requestHash: words,
    /** SHA-256 of the body, 64 hexadecimal digits; null for a body that was streamed. */
    answerHash: words.nullable(),
    /** HTTP status of the answer. */
    status: natural,
    /** Length of the body; null for one that was streamed. */
    bytes: natural.nullable(),
    /** How long the resource took; null without one. */
    upstreamMs: natural.nullable(),
    /** `at` is when it was committed. */
    timeline,
  }),
  /** A relayer's transaction. It may settle many payments, and a payment that it names may have failed in it. */
  settled: transaction.extend({ relayer: address, payments: z.array(settledPayment).readonly() }),
  /** Money that arrived bought nothing with this request, and may still be presented. The first and the last of a payment. */
  released: z.object({
    /** `answered_<status>` of an answer that is not charged, `unreached`, `failed`, `not_settled`, `request_ended`, `identifier_reused`. */
    reason: words,
    /** Null if the request ended before its verdict. */
    sale: sale.nullable(),
    timeline: timeline.nullable(),
  }),
  /**
   * Money that arrived was refused. Repeats of one payment and failure are reported under the same `payment` and `failure`
   * with a higher count, at the 2nd, 4th, 8th and so on: the highest count replaces the others.
   */
  refused: z.object({
    /** A `PaymentFailure`, maybe of a later version. */
    failure: name,
    payer: address.nullable(),
    /** The token of the amount, and the account that it was paid to; null where they are not known. */
    asset: address.nullable(),
    payTo: address.nullable(),
    amount: decimal.nullable(),
    transaction: hash32.nullable(),
    logIndex: natural.nullable(),
    minedAtMs: time.nullable(),
    /** What must be read before a refund: whether the payment may have been served. */
    detail: words.nullable(),
    count: natural,
  }),
  /** The ledger is closed for a payment: it buys nothing any more, so that it can be paid back. */
  refunding: z.object({
    /** The state that was closed; `free`: the ledger did not know the payment. */
    from: z.enum(['free', 'expired', 'released', 'answered']),
    /** Names the refund, as its caller passed it. */
    refund: name,
    reason: words.nullable(),
  }),
  /** A refund was sent and is final on the chain. */
  refunded: z.object({ refund: name, transaction: hash32, amount: decimal, recipient: address }),
  /** A transaction of an agent's wallet. */
  job_transaction: transaction.extend({
    wallet: address,
    /** The step of the job, from 0. */
    step: natural,
    /** A `cancel` uses up the nonce of a step that was given up. */
    kind: z.enum(['first', 'replacement', 'cancel']),
    /** Native coin sent along, in wei. */
    value: decimal,
  }),
  /** Something was done that an operator does, by a command or a worker: a row of the audit table. */
  acted: z.object({
    /** In place of the id of an API key: those have their own rows. */
    keyId: z.enum(['worker', 'console']),
    /** As the operator API names it: `wallet.fill`. */
    action: name,
    /** What it was done to. */
    subject: name,
    details: z.record(name, z.union([words, natural])),
  }),
};

type BookEventType = keyof typeof FACTS;
export type BookFacts = { [Type in BookEventType]: z.output<(typeof FACTS)[Type]> };
export type AnsweredFacts = BookFacts['answered'];
export type SettledFacts = BookFacts['settled'];
export type ReleasedFacts = BookFacts['released'];
export type RefusedFacts = BookFacts['refused'];
export type RefundingFacts = BookFacts['refunding'];
export type RefundedFacts = BookFacts['refunded'];
export type JobTransactionFacts = BookFacts['job_transaction'];
export type ActedFacts = BookFacts['acted'];

/** One change of money, written in the same script as the change of state. */
export type BookEvent = { [Type in BookEventType]: BookEventOf<Type> }[BookEventType];

export interface BookEventOf<Type extends BookEventType> {
  type: Type;
  /** When the state changed, on Redis's clock; see `believedTime`. */
  atMs: number;
  /**
   * The payment's id: entry and slot in the ledger, such as `tx:<chainId>:<hash>:<logIndex>` or
   * `auth:<chainId>:<asset>:<from>:<nonce>:auth`. Empty for `settled` and `job_transaction`, which concern a
   * transaction, and for `acted`.
   */
  payment: string;
  facts: BookFacts[Type];
}

/** An entry that this code cannot read: of a later version, of an unknown type, or damaged. */
export interface UnknownBookEvent {
  type: 'unknown';
  why: 'version' | 'type' | 'fields';
  /** The entry as it was stored. */
  fields: Readonly<Record<string, string>>;
}

/** How far Redis's clock may be ahead of ours. */
const MOST_AHEAD_MS = 86_400_000;

/** Whether a time in milliseconds since 1970 can have been read from a clock by now. */
export function isTimely(ms: number): boolean {
  return ms <= Date.now() + MOST_AHEAD_MS;
}

/** The time of an event; now for a time in the future, since a forged event can have any time. */
export function believedTime(ms: number): number {
  return isTimely(ms) ? ms : Date.now();
}

/**
 * Parses the fields of a stream entry, given as Redis returns them: names and values in turn. Never throws: what it
 * cannot read is returned as `unknown`, for a later version to read.
 */
export function parseBookEvent(flat: readonly string[]): BookEvent | UnknownBookEvent {
  const fields: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) fields[flat[index] ?? ''] = flat[index + 1] ?? '';
  const { v, type, at, payment, facts } = fields;
  if (v !== String(BOOK_EVENT_VERSION)) return { type: 'unknown', why: 'version', fields };
  if (!isType(type)) return { type: 'unknown', why: 'type', fields };
  const isWhole = /^\d{1,15}$/.test(at ?? '') && name.safeParse(payment).success && facts !== undefined;
  if (!isWhole || facts.length > MOST_FACTS) return { type: 'unknown', why: 'fields', fields };
  try {
    // The type and its facts belong together by the table above, which TypeScript does not follow.
    return { type, atMs: believedTime(Number(at)), payment, facts: FACTS[type].parse(JSON.parse(facts)) } as BookEvent;
  } catch {
    return { type: 'unknown', why: 'fields', fields };
  }
}

function isType(type: string | undefined): type is BookEventType {
  return type !== undefined && Object.hasOwn(FACTS, type);
}
