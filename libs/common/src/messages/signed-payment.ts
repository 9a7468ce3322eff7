import type { Lease, PaymentId } from '@tollgate/ledger';
import type { Hex, PaymentFailure, SignedPayment } from '@tollgate/protocol';

/** Asked of any verifier, in `VERIFY_QUEUE`. */
export const VERIFY_SIGNED_PAYMENT = 'verify-signed-payment.v1';
/** Asked of whichever verifier holds a relayer's lane, in `SETTLE_QUEUE`. */
export const SETTLE_SIGNED_PAYMENT = 'settle-signed-payment.v1';

/** The queue that gateways put settlements into. */
export const SETTLE_QUEUE = 'settle';

/** What a signed payment has to be good for. Addresses are lower case. */
export interface SignedPaymentTerms {
  chainId: number;
  asset: Hex;
  /** The token's EIP-712 domain. */
  assetName: string;
  assetVersion: string;
  payTo: Hex;
  /** Under scheme `upto` the most it may come to. */
  priceBaseUnits: string;
}

/** Asking again under the same `owner` is harmless. */
export interface VerifySignedPaymentRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  terms: SignedPaymentTerms;
  payment: SignedPayment;
  /** For the share of look-ups, and of waits for the chain, one client may have. */
  clientAddress: string;
  /** Null: the payment is looked at and nothing is claimed. */
  claim: {
    /** 128 random bits, base64url, made by the gateway for this request. */
    owner: string;
    fingerprint: string;
    /** Hash of what only the payer knows: the Idempotency-Key, the reference; null without one. */
    retryKey: string | null;
    leaseMs: number;
  } | null;
}

/** A settlement that was made already, by an earlier try or by a stranger who sent what was signed himself. */
export interface EarlierSettlement {
  txHash: Hex | null;
  /** What it moved, where that may be less than the price (scheme `upto`). */
  amountBaseUnits?: string;
}

/** The call that settles a payment would have done so at the newest block: the payer's own key has signed, and he has no code. */
export interface PaymentTrial {
  /** When it was asked for, on the clock of the ledger's Redis. */
  atMs: number;
  /** What the payer had. */
  balanceBaseUnits: string;
}

export type SignedPaymentVerdict =
  | ({ outcome: 'claimed'; lease: Lease; payer: Hex; trial?: PaymentTrial } & EarlierSettlement)
  /** Nothing was claimed, as was asked. */
  | ({ outcome: 'valid'; payer: Hex } & EarlierSettlement)
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; failure: PaymentFailure; payer?: Hex; retryAfterMs?: number }
  /** Nobody can tell now (chain or ledger out of reach): never a refusal. */
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };

/** Asking again for the same payment joins the settlement that is under way, and tells the result of one that ended. */
export interface SettleSignedPaymentRequest {
  requestId: string;
  /** On the clock of the ledger's Redis: after it the answer is `pending`, and the settlement goes on. */
  deadlineMs: number;
  terms: SignedPaymentTerms;
  payment: SignedPayment;
  /**
   * What to move: the price. Less than what is permitted under scheme `upto` alone, and never zero: for nothing, nothing
   * is settled.
   */
  amountBaseUnits: string;
  /** As the verdict had it: what was tried a moment ago need not be tried again. */
  trial?: PaymentTrial;
}

export type SettlementResult =
  | { outcome: 'settled'; txHash: Hex; payer: Hex; amountBaseUnits: string }
  /** Nothing was moved by us, and nothing of ours is in flight that still could. */
  | { outcome: 'failed'; failure: PaymentFailure; txHash: Hex | null }
  /** Sent or about to be; ask again. Never a refusal: who is told to pay again pays twice. */
  | { outcome: 'pending'; txHash: Hex | null }
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };
