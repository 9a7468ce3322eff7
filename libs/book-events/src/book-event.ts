import type { Hex } from '@tollgate/protocol';

/** The version of the events that this code writes, in the field `v`. */
export const BOOK_EVENT_VERSION = 1;

/** Base units, wei or gas as a decimal integer. */
export type Decimal = string;

/** Milliseconds since 1970 on Redis's clock. Null: the step did not happen, or its time is not known. */
export interface PaymentTimeline {
  /** The gateway received the request. */
  presentedAtMs: number;
  /** The gateway had the verdict. */
  verifiedAtMs: number | null;
  claimedAtMs: number | null;
  /** The resource had responded. */
  fulfilledAtMs: number | null;
  settledAtMs: number | null;
}

/** The request that presents a payment, and the terms it was offered. */
export interface SaleFacts {
  requestId: string;
  /** The path of the paid route; `facilitator` for a payment of another server. */
  route: string;
  method: string;
  /** `tx-hash`, or the scheme of the signed payment: `exact`, `upto`, `charge`. */
  scheme: string;
  /** CAIP-2: `eip155:1328`. */
  network: string;
  chainId: number;
  asset: Hex;
  payTo: Hex;
  /** As the chain names it, or as the payer signed; null if it is not known. */
  payer: Hex | null;
  /** What was paid; null if it is not known. */
  amount: Decimal | null;
  price: Decimal;
  /** The transaction that moved the money; null for a payment that moved nothing (a metered charge of 0). */
  transaction: Hex | null;
  /** Null where only the transaction is known. */
  logIndex: number | null;
}

/** A payment bought an answer: everything about it, since no other event reports its steps. */
export interface AnsweredFacts extends SaleFacts {
  /** SHA-256 of method, path, query and body, 22 base64url characters: the ledger's fingerprint. */
  requestHash: string;
  /** SHA-256 of the body, 64 hexadecimal digits; null for a body that was streamed. */
  answerHash: string | null;
  /** HTTP status of the answer. */
  status: number;
  /** Length of the body; null for one that was streamed. */
  bytes: number | null;
  /** How long the resource took; null without one. */
  upstreamMs: number | null;
  /** `at` is when it was committed. */
  timeline: PaymentTimeline;
}

/** Money that arrived bought nothing with this request, and may still be presented. Once per payment. */
export interface ReleasedFacts {
  /** `not_charged`, `unreached`, `failed`, `not_settled`, `request_ended`, `identifier_reused`. */
  reason: string;
  /** Null if the request ended before its verdict. */
  sale: SaleFacts | null;
  timeline: PaymentTimeline | null;
}

/**
 * Money that arrived was refused. Repeats of one payment and failure are reported under the same `payment` and `failure`
 * with a higher count, at the 2nd, 4th, 8th and so on: the highest count replaces the others.
 */
export interface RefusedFacts {
  /** A `PaymentFailure`, maybe of a later version. */
  failure: string;
  payer: Hex | null;
  amount: Decimal | null;
  transaction: Hex | null;
  logIndex: number | null;
  minedAtMs: number | null;
  /** What must be read before a refund: whether the payment may have been served. */
  detail: string | null;
  count: number;
}

/** The ledger is closed for a payment: it buys nothing any more, so that it can be paid back. */
export interface RefundingFacts {
  /** The state that was closed; `free`: the ledger did not know the payment. */
  from: 'free' | 'expired' | 'released' | 'answered';
  /** Names the refund, as its caller passed it. */
  refund: string;
  reason: string | null;
}

/** A refund was sent and is final on the chain. */
export interface RefundedFacts {
  refund: string;
  transaction: Hex;
  amount: Decimal;
  recipient: Hex;
}

/** A transaction of ours that is final on the chain, with what it cost. */
export interface TransactionFacts {
  chainId: number;
  transaction: Hex;
  nonce: number;
  outcome: 'success' | 'reverted';
  gasUsed: Decimal;
  /** Wei per gas; null where the RPC server does not return it. */
  effectiveGasPrice: Decimal | null;
  blockNumber: number;
  blockHash: Hex;
  jobId: string;
  operation: string;
}

/** A relayer's transaction. It may settle many payments, and a payment that it names may have failed in it. */
export interface SettledFacts extends TransactionFacts {
  relayer: Hex;
  payments: readonly SettledPayment[];
}

export interface SettledPayment {
  /** The id of the payment, as in `BookEvent.payment`. */
  payment: string;
  asset: Hex;
  payTo: Hex;
  payer: Hex;
  /** What was moved; null: this transaction did not move it. */
  amount: Decimal | null;
  /** The index of the `Transfer` log in its block; null where it is not known. */
  logIndex: number | null;
}

/** A transaction of an agent's wallet. */
export interface JobTransactionFacts extends TransactionFacts {
  wallet: Hex;
  /** The step of the job, from 0. */
  step: number;
  /** A `cancel` uses up the nonce of a step that was given up. */
  kind: 'first' | 'replacement' | 'cancel';
  /** Native coin sent along, in wei. */
  value: Decimal;
}

export interface BookFacts {
  answered: AnsweredFacts;
  settled: SettledFacts;
  released: ReleasedFacts;
  refused: RefusedFacts;
  refunding: RefundingFacts;
  refunded: RefundedFacts;
  job_transaction: JobTransactionFacts;
}

export type BookEventType = keyof BookFacts;

/** One change of money, written in the same script as the change of state. */
export type BookEvent = { [Type in BookEventType]: BookEventOf<Type> }[BookEventType];

export interface BookEventOf<Type extends BookEventType> {
  type: Type;
  /** When the state changed, on Redis's clock. */
  atMs: number;
  /**
   * The payment's id: entry and slot in the ledger, such as `tx:<chainId>:<hash>:<logIndex>` or
   * `auth:<chainId>:<asset>:<from>:<nonce>:auth`. Empty for `settled` and `job_transaction`, which concern a
   * transaction.
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
