import type { EmittedLog, Hex, PaymentFailure, SignedPaymentId, SignedTerms } from '@tollgate/protocol';

import type { NonceQuestion } from '../contracts/contract-question.js';
import type { SignatureAnswer } from '../contracts/contract-signature.js';
import type { ChainReader } from '../reader/chain-reader.js';
import type { SentPayment } from './sent-payment.js';

/** The transfer that a payment promises: of `asset` to `payTo`. Addresses are lower case. */
export interface PromisedMove<Terms extends SignedTerms = SignedTerms> {
  asset: Hex;
  payTo: Hex;
  payment: Terms;
}

/** The state of a payment to be settled, read at the chain's newest block. */
export interface UnsettledView {
  /** Used or cancelled. Null where the contract that keeps it does not exist on this chain. */
  isNonceTaken: boolean | null;
  /** Null when no contract answers at the asset's address. */
  balanceBaseUnits: bigint | null;
  /** Also false when it was not simulated. */
  wouldSettle: boolean;
  /** `0x` when the payer has no code. */
  payerCode: Hex;
  hasPayerCode: boolean;
  /** Null when the signature was not checked on the chain. */
  signatureAnswer: SignatureAnswer | null;
  headBlockNumber: number;
}

/** The client for which the chain is searched. A search for a nonce that nothing took lately is long. */
export interface SearchAsker {
  /** @throws when its share of look-ups is used up */
  assertLeft(): void;
  /** The search found nothing. That may be the payer's doing, so it counts whatever the verdict is. */
  foundNothing(): void;
}

export interface UseLookUp<Terms extends SignedTerms = SignedTerms> {
  promised: PromisedMove<Terms>;
  /** Default: no relayer has sent it. */
  sent?: SentPayment;
  /** The client to charge for a search, unless a relayer has sent the payment. */
  asker?: SearchAsker;
  /** Blocks before this time are not searched. */
  sinceMs: number;
  deadlineMs: number;
}

/** What a transaction has moved by a payment. */
export interface FoundMove {
  txHash: Hex;
  blockNumber: number;
  minedAtMs: number;
  amountBaseUnits: bigint;
  /** The transaction's calldata. */
  input: Hex;
}

/**
 * What became of a payment whose nonce is taken, whichever sender took it. `txHash` is the transaction that took it, where
 * the method's logs tell; null: they would, and it is not found.
 */
export type PaymentUse =
  /** The promised transfer was made. */
  | ({ outcome: 'settled' } & FoundMove)
  /** The payer has cancelled it. */
  | { outcome: 'cancelled'; txHash: Hex }
  /** The nonce went into another payment, as far as the search can tell. */
  | { outcome: 'used'; txHash?: Hex }
  /** It may have moved the money. It is refused, with this failure, and what an operator reads before a refund. */
  | { outcome: 'doubtful'; failure: PaymentFailure; txHash?: null; facts: DoubtfulFacts };

interface DoubtfulFacts {
  amountBaseUnits?: bigint;
  minedAtMs?: number;
  detail: string;
}

/** What made a transfer of the token. */
export interface TransferCause {
  readonly kind: SignedTerms['kind'];
  /** The payment, as the logs name it; null where they name none. */
  readonly id: SignedPaymentId | null;
  /** The contract that was asked for it: the token, or one that it has been approved for. Lower case. */
  readonly settler: Hex;
}

/** What calldata shows of the payments of a method whose logs name none. */
export interface CalldataNames<Id extends SignedPaymentId = SignedPaymentId> {
  /** The payment of this payer that a call of the settler itself settles; null: none. */
  nameOf(input: Hex, move: { settler: Hex; payer: Hex; chainId: number }): Id | null;
  /** Whether calldata for another contract contains the payer's payment with this id, of any amount. */
  carries(input: Hex, id: Id, move: { asset: Hex; payer: Hex }): boolean;
}

/** What the logs of one transaction show of the payments of a method. */
export interface LoggedMoves<Terms extends SignedTerms = SignedTerms> {
  /** The base units that the payment moved to its recipient; null: it moved nothing. */
  of(promised: PromisedMove<Terms>): bigint | null;
}

/** What a method of signed payments is on a chain: the calls that move the money, and the logs that show it. */
export interface ChainMethod<Terms extends SignedTerms = SignedTerms> {
  readonly kind: Terms['kind'];
  /** The only account from which its contract takes the payment, in lower case; null: from any. */
  senderOf(payment: Terms): Hex | null;
  askForNonceOf(payment: Terms, asset: Hex): NonceQuestion;
  /**
   * Finds the transaction that took a payment's nonce: ours, or one that a third party sent with a copy of the signature.
   * @param headBlockNumber the head at which the nonce was seen to be taken
   * @throws ChainUnavailableError
   */
  findUse(chain: SearchedChain, lookUp: UseLookUp<Terms>, headBlockNumber: number): Promise<PaymentUse>;
  /** Reads the logs of a transaction, whatever its status: many calls may share it and fail alone. */
  readMoves(logs: readonly EmittedLog[]): LoggedMoves<Terms>;
  /** The transfers of an asset that payments of this method made, by the position of their logs. */
  findCauses(logs: readonly EmittedLog[], token: { chainId: number; asset: Hex }): ReadonlyMap<number, TransferCause>;
  /** Null where the logs name the payments. */
  readonly calldata: CalldataNames | null;
  /** Whether the calldata of a relayer's job contains the payment. */
  isIn(calldata: Hex, payment: Terms): boolean;
  /** Whether the transaction that moved it carries the presented signature, as it is sent for a contract. */
  isSignedIn(move: Pick<FoundMove, 'input' | 'amountBaseUnits'>, payment: Terms & { signature: Hex }): boolean;
}

export type SearchedChain = Pick<
  ChainReader,
  'foundNothingTwice' | 'readBlockTime' | 'readHead' | 'readTransaction' | 'searchBelow' | 'searchPast'
>;
