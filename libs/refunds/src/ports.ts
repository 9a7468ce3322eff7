import type { MinedTransaction } from '@tollgate/chain';
import type { Journal, LaneId } from '@tollgate/journal';
import type { Ledger } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import type { ArrivedTransfer, Refund, RefundCaps, RefundState, RefundTerms, TakenPart } from './refund.js';

// What refunds need of the world. Each port throws when its store or its servers do not answer; then the step is repeated.

/** A chain on which the seller is paid. */
export interface RefundChain {
  readonly chainId: number;
  /** Null where the chain has mined no such transaction. */
  readTransaction(txHash: Hex): Promise<MinedTransaction | null>;
  isContract(address: Hex): Promise<boolean>;
  /** In milliseconds since 1970. */
  readBlockTimeMs(blockNumber: number): Promise<number>;
  readHeadNumber(): Promise<number>;
  /** Of a token; null: it does not say. */
  readDecimals(asset: Hex): Promise<bigint | null>;
}

/** The transaction that brought the money of a payment. */
export type ArrivalPlace = Pick<Refund, 'chainId' | 'arrivedIn'>;

/** A transfer, and what refunds of any payment have taken of it, or may still take: base units. */
export interface HeldTransfer extends ArrivedTransfer, TakenPart {}

/** A payment as the book has it: what its refund depends on. Amounts are base units. */
export interface PaymentToRefund {
  readonly state: string;
  readonly asset: string | null;
  readonly recipient: string | null;
  readonly transaction: string | null;
  /** Null where no event has reported it. */
  readonly amount: string | null;
  /** What was paid back, as booked. */
  readonly refunded: string;
  /** What the events said. */
  readonly reported: {
    readonly answered?: unknown;
    readonly refused?: { readonly failure: string };
    readonly bookedAs?: { readonly payment: string };
  };
}

/** Since when the book is whole of a chain, in milliseconds since 1970. */
export interface BookTimes {
  /** Null: it is not. */
  readonly completeFromMs: number | null;
  /** The end of the last gap; null: it has none. */
  readonly gapEndMs: number | null;
}

export interface RefundSearch {
  readonly payment?: string | undefined;
  readonly state?: RefundState | undefined;
}

export interface RefundPage {
  readonly refunds: readonly Refund[];
  /** Continues after this page; null when it was the last. */
  readonly cursor: string | null;
}

/** What refunds of today, UTC, have paid back or may pay back yet, in base units: of all, to one payer, for one API key. */
export type RefundedToday = Readonly<Record<Exclude<keyof RefundCaps, 'each'>, bigint>>;

/** What changes of a refund. A change of `attempt` begins that attempt now; `takes`: what it takes of each transfer. */
export type RefundChange = Partial<
  Pick<Refund, 'amount' | 'askedAmount' | 'askedBy' | 'attempt' | 'detail' | 'doubts' | 'job' | 'maybeSent' | 'state'> &
    Pick<Refund, 'transaction'> & { readonly takes: readonly TakenPart[] }
>;

/** The refunds of the book, as one transaction reads and writes them. */
export interface RefundRows {
  /** Null when there is no such refund. */
  read(id: string): Promise<Refund | null>;
  /** All of a payment, by number. */
  listOf(payment: string): Promise<Refund[]>;
  /** Null for a payment that the book does not know. */
  findPayment(payment: string): Promise<PaymentToRefund | null>;
  /**
   * The other refund that a transaction paid, as the book has it, or the payment of a refund that the book has lost; null:
   * none.
   */
  findPaidBy(transaction: string, id: string): Promise<string | null>;
  /** @param except a refund that does not count */
  readToday(of: Pick<Refund, 'chainId' | 'asset' | 'recipient'>, keyId: string, except: string): Promise<RefundedToday>;
  /** Of the transfers at these places, those that the book knows. */
  readTransfers(arrival: ArrivalPlace, logs: readonly number[]): Promise<HeldTransfer[]>;
  /**
   * Notes transfers as the chain shows them now, and returns them; without those that a reorganisation has made less than is
   * taken of them.
   */
  noteTransfers(arrival: ArrivalPlace, transfers: readonly ArrivedTransfer[]): Promise<HeldTransfer[]>;
  /** Adds `taken` of each part, which may be negative. The store refuses to take more than arrived. */
  addTaken(arrival: ArrivalPlace, parts: readonly TakenPart[]): Promise<void>;
  readTakes(id: string): Promise<readonly TakenPart[]>;
  /** As `asked`, also in place of one that was refused. */
  insert(terms: RefundTerms, keyId: string, takes: readonly TakenPart[]): Promise<Refund>;
  update(id: string, change: RefundChange): Promise<Refund>;
}

type Reads = 'findPaidBy' | 'findPayment' | 'listOf' | 'read' | 'readToday' | 'readTransfers';

/** The book. */
export interface RefundBook extends Pick<RefundRows, Reads> {
  /** One transaction after the other. @throws DeposedError, BookUnavailableError: nothing was written, or all of it */
  write<T>(work: (rows: RefundRows) => Promise<T>): Promise<T>;
  /** Newest first. @throws RangeError for a cursor that is none */
  search(search: RefundSearch, page: { limit: number; cursor?: string | undefined }): Promise<RefundPage>;
  /** Those that have to be brought to their end, oldest first. */
  listInWork(): Promise<Refund[]>;
  /** The others to the same payer that a job may have paid already, and of which the book does not know it. */
  listUnpaid(refund: Refund): Promise<Refund[]>;
  /** The refunds of a payment whose transfers are booked. */
  readPaidBack(payment: string): Promise<readonly { readonly refund: string; readonly transaction: string }[]>;
  readTimes(chainId: number): Promise<BookTimes>;
  /** Whether an event that is not booked names the payment, or the transaction. */
  hasUnapplied(payment: string, transaction: string | null): Promise<boolean>;
  /** Whether book and chain differ about a transaction. */
  hasDifference(transaction: string): Promise<boolean>;
  /** Whether the book knows the account as ours. */
  isOwnAccount(chainId: number, address: Hex): Promise<boolean>;
}

/** What the seller has set of one token. Addresses are lower case. */
export interface RefundSettings {
  readonly asset: Hex;
  /** The accounts that it is paid to, at least one. */
  readonly recipients: readonly string[];
  readonly decimals: number;
  readonly caps: RefundCaps;
  /** Base units: where all refunds of a payment are more, another key has to approve; null: no amount needs it. */
  readonly approvalAbove: bigint | null;
  /** After how many blocks a transaction is final. */
  readonly confirmations: number;
  /** How messages name what the seller wrote of it. */
  readonly names: { readonly token: string; readonly payTo: string; readonly decimals: string };
  /** The name that the wallet of refunds on this chain should have. */
  readonly walletName: string;
}

/** What is refunded from: a token of the seller, its chain, and the wallet that pays refunds on that chain. */
export interface RefundOption {
  readonly chain: RefundChain;
  readonly settings: RefundSettings;
  /** Since when every payment on the chain is reported to the book, in milliseconds since 1970; null: some process does not report. */
  readBookedSinceMs(): Promise<number | null>;
  /** Null: no agent worker has one of its names on this chain. */
  findWallet(): Promise<RefundWallet | null>;
}

export interface RefundWallet {
  readonly name: string;
  readonly lane: LaneId;
}

/** What refunds of every token need. */
export interface SharedPorts {
  readonly ledger: Pick<Ledger, 'close' | 'recordRefunded'>;
  readonly journal: Pick<Journal, 'readEachJob' | 'readJob' | 'readLanes' | 'submitNamed'>;
  readonly book: RefundBook;
  /** The outbox of the ledger, which the book reads: waits until it has what was reported by now; false: not within this time. */
  readonly outbox: { waitUntilRead(patienceMs: number): Promise<boolean> };
}

/** What one refund needs. */
export type RefundPorts = SharedPorts & RefundOption;
