/**
 * A purchase: offer, present, verify, claim, fulfil, settle, commit or release. `sell` takes a presented payment to its
 * end, by way of ports to a verifier, a store, a settler and a seller. How an offer, a payment and the response to each
 * end are written is left to the adapters.
 */
export interface PresentedPurchase<State extends Presented, Product, Result extends SettlementOutcome, Answer>
  extends Verifier<State, Product, Result>, PurchaseStore<State, Product, Result, Answer> {
  /** Produces an answer that was not stored once more; null if that is not safe, or was done too often. */
  reproduce?(spent: SpentState<State>): Promise<Answer | null>;
}

/** What is known of a payment that is not claimed for this request; an adapter adds its facts to each state. */
export type Presented =
  /** It pays, and is to be claimed. */
  | { readonly outcome: 'valid' }
  /** It is spent on this very request: the client gets the answer again. */
  | { readonly outcome: 'answered' }
  /**
   * It does not buy anything now. `busy`: another request holds it. `paused`: what it pays for was busy a moment ago.
   * `conflict`: it belongs to another request.
   */
  | { readonly outcome: 'busy' | 'paused' | 'conflict' | 'identifier_reused' | 'refused' | 'unavailable' };

/** The payment is claimed for this request. */
export interface ClaimedState<Product, Result extends SettlementOutcome> {
  readonly outcome: 'claimed';
  readonly purchase: ClaimedPurchase<Product, Result>;
}

type In<State, Outcome> = Extract<State, { readonly outcome: Outcome }>;
export type SpentState<State> = In<State, 'answered'>;
export type TurnedAway<State> = Exclude<State, { readonly outcome: 'valid' | 'answered' }>;

/** How a purchase ends. */
export type PurchaseEnd<State, Product, Result extends SettlementOutcome, Answer> =
  | TurnedAway<State>
  | Replay<Answer>
  | Fulfilment<Product, Result>;

/** Port of the verifier. May reject if it is unavailable. */
export interface Verifier<State extends Presented, Product, Result extends SettlementOutcome> {
  /** Finds a payment `valid`, or claims it in the same step. */
  verify(): Promise<State | ClaimedState<Product, Result>>;
}

/** Port of the store. May reject if it is unavailable. */
export interface PurchaseStore<State extends Presented, Product, Result extends SettlementOutcome, Answer> {
  /** Null if the payment is to be verified. `valid` if it may be settled: its settlement decides, not the verifier. */
  find?(): Promise<State | null>;
  /** For a verifier that does not claim. */
  claim?(): Promise<State | ClaimedState<Product, Result>>;
  /** Null if the answer was not stored. */
  readAnswer(spent: SpentState<State>): Promise<Answer | null>;
  /** The state of a payment if store or verifier is unavailable. */
  explain(error: unknown): State;
}

/** A purchase whose payment is claimed. */
export interface ClaimedPurchase<Product, Result extends SettlementOutcome>
  extends ClaimedPayment<Product, Result>, Settler<Product, Result>, Seller<Product, Result> {}

/**
 * Port of the store: a payment that is claimed for one request. Once another request has taken the payment over, each
 * step returns false (`recordSettlement` null) and changes nothing. All may reject if the store is unavailable.
 */
export interface ClaimedPayment<Product, Result extends SettlementOutcome> {
  /** How long the claim outlives its process. */
  readonly leaseMs: number;
  /** The result of an earlier settlement, if it is known. */
  readonly settled: Result | null;
  /** Whether an earlier request may have settled the payment. */
  readonly mayBeSettled: boolean;
  renew(): Promise<boolean>;
  /** Whether the store must know of a settlement before it begins. */
  readonly recordsSettlement: boolean;
  /** Records the settlement, and returns the amount that is fixed for it, maybe by an earlier request. */
  recordSettlement(amountBaseUnits: bigint): Promise<bigint | null>;
  /** Spends the payment. No byte of the product is sent before. */
  commit(product: Product, settled: Settled<Result>): Promise<boolean>;
  release(terms: ReleaseTerms): Promise<boolean>;
}

/** Port of the settlement. */
export interface Settler<Product, Result extends SettlementOutcome> {
  /** `before`: settles before the product exists. `after`: only for a product that is charged. */
  readonly settles: 'before' | 'after';
  /** The price; for a metered payment the charge. `product` is null if it is settled first. May throw. */
  amountOf(product: Product | null): bigint;
  settle(amountBaseUnits: bigint): Promise<Result>;
}

/** Port of the seller. */
export interface Seller<Product, Result extends SettlementOutcome> {
  /** @param signal aborted when another request takes the payment over */
  produce(settled: Settled<Result> | null, signal: AbortSignal): Promise<Product>;
  isCharged(product: Product): boolean;
  /** Of a product that is not charged: how long its source, which is busy, is to be left alone. Absent, 0: it is not. */
  pauseMsOf?(product: Product): number;
  /** Reports what a step threw, and returns what it leaves behind. */
  reportFailure(error: unknown): FailureCause;
}

/** What is known of a settlement. */
export type SettlementOutcome =
  | { readonly outcome: 'settled' }
  /** Nothing was moved, and nothing in flight still can. With a transaction, the failure cost gas. */
  | { readonly outcome: 'failed'; readonly txHash: string | null }
  /** It may have been moved, or be moved yet. */
  | { readonly outcome: 'pending' }
  /** No settlement began. */
  | { readonly outcome: 'unavailable' };

export type Settled<Result> = In<Result, 'settled'>;
export type Unsettled<Result extends SettlementOutcome> = Exclude<Result, { readonly outcome: 'settled' }>;

/**
 * Why a claimed payment got no product. `unreached`: no work was done for it. `failed`: there was, without a usable
 * result. `unknown`: the request may have had its effect. `store`: the store is unavailable.
 */
export type FailureCause = 'unreached' | 'failed' | 'unknown' | 'store';

export interface ReleaseTerms {
  /** Why the payment was not spent. */
  readonly cause: 'not_charged' | 'unreached' | 'failed' | 'not_settled';
  /** Whether the release uses up one of those that a payment has. */
  readonly counted: boolean;
  /** For how long the payment buys nothing; absent: it may be used at once. */
  readonly pauseMs?: number;
  /** Whether the amount fixed by this request may change: nothing was submitted for it. */
  readonly forgetsAmount: boolean;
  /** Whether the payment may be settled, so that what is known of it must be kept. */
  readonly mayBeSettled: boolean;
}

/** How a claimed purchase ended. */
export type Fulfilment<Product, Result extends SettlementOutcome> =
  /** The payment is spent: the product may be sent. */
  | { readonly outcome: 'committed'; readonly product: Product; readonly settled: Settled<Result> }
  /** The product is not charged: it may be sent, and the payment used again. */
  | { readonly outcome: 'released'; readonly product: Product }
  /** There is no product, and the payment may be used again. */
  | { readonly outcome: 'failed'; readonly error: unknown }
  /** There is no product, and the payment stays claimed until its lease expires. */
  | { readonly outcome: 'held'; readonly error: unknown }
  /** The payment is not known to be settled; a product that exists must not be sent. */
  | { readonly outcome: 'not_settled'; readonly result: Unsettled<Result> }
  /** Another request holds the payment. `settled`: the result that could not be committed. */
  | { readonly outcome: 'taken_over'; readonly settled: Settled<Result> | null }
  /** The store is unavailable: the payment stays claimed until its lease expires. */
  | { readonly outcome: 'store_unavailable' };

/** What a spent payment gets. */
export type Replay<Answer> =
  | { readonly outcome: 'replayed' | 'reproduced'; readonly answer: Answer }
  /** The answer was not stored, and is not produced again. */
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'not_replayed'; readonly error: unknown };
