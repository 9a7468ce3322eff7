import type { Lease, PaymentId } from '@tollgate/ledger';
import type { Hex, PaymentFailure, SignedPayment } from '@tollgate/protocol';

/**
 * The version is part of the name: a verifier of another version answers "no handler" instead of misreading a message.
 */
export const VERIFY_PAYMENT = 'verify-payment.v1';

/** The queue that gateways put their questions into. */
export const VERIFY_QUEUE = 'verify';

/** The question of a gateway. Repeating it with the same `owner` is safe. */
export interface VerifyPaymentRequest {
  requestId: string;
  /** 128 random bits, base64url, made by the gateway for this request. */
  owner: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  network: string;
  chainId: number;
  asset: Hex;
  payTo: Hex;
  priceBaseUnits: string;
  /** Lower case. */
  txHash: Hex;
  /** Already authenticated by the gateway. */
  reference?: { text: string; issuedAtMs: number; priceBaseUnits: string };
  signature?: Hex;
  fingerprint: string;
  /**
   * Hash of what the client repeats to get its answer again: of a transaction by x402 v2 or MPP its reference. Null where
   * that is only a reference in `X-Payment`, and without any of them.
   */
  retryKey: string | null;
  /** A payment that is not bound to its reference may be presented with another one until it is answered. */
  keyReserves?: false;
  leaseMs: number;
  /** The client whose shares of look-ups and waits are charged. */
  clientAddress: string;
}

export type VerifyPaymentVerdict =
  /** `amountBaseUnits`: what was transferred; missing if the policy does not say which transfer pays. */
  | { outcome: 'claimed'; lease: Lease; bound: boolean; payer: Hex; amountBaseUnits?: string }
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  /** What it pays for is busy, and is not to be asked before then. */
  | { outcome: 'paused'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; failure: PaymentFailure; retryAfterMs?: number }
  /** Unknown for now (chain or ledger unreachable); never counts as refused. */
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };

/** Sent to any verifier over `VERIFY_QUEUE`. */
export const VERIFY_CONTRACT_SIGNATURE = 'verify-contract-signature.v1';

export interface VerifyContractSignatureRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  chainId: number;
  /** The contract that checks whether this is its signature (EIP-1271). */
  signer: Hex;
  hash: Hex;
  signature: Hex;
  /** The client whose share of look-ups is charged. */
  clientAddress: string;
}

export type ContractSignatureVerdict =
  | { outcome: 'signed' }
  /** There is no contract, or it rejects the signature, or it fails. */
  | { outcome: 'not_signed' }
  /** Unknown for now; never counts as rejected. */
  | { outcome: 'unavailable'; reason: string };

/** Sent to any verifier over `VERIFY_QUEUE`. */
export const VERIFY_LOCK = 'verify-lock.v1';

/** Whether a transaction has paid a price under a lock, of which the asker knows no more than that. */
export interface VerifyLockRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  chainId: number;
  asset: Hex;
  payTo: Hex;
  priceBaseUnits: string;
  /** Lower case. */
  txHash: Hex;
  /** keccak256 of the reference, in lower case. */
  lock: Hex;
  /** The client whose share of look-ups is charged. */
  clientAddress: string;
}

export type LockVerdict =
  | { outcome: 'paid' }
  /** Also while it is not mined. */
  | { outcome: 'not_paid' }
  /** Unknown for now. */
  | { outcome: 'unavailable'; reason: string };

/** Sent to any verifier over `VERIFY_QUEUE`, by a gateway that has had no verdict for a while. */
export const COMPARE_SETTINGS = 'compare-settings.v1';

/** Every question that yields a verdict carries the settings of its sender, from `describeSettings`. */
export type ComparedQuestion<TRequest extends object> = TRequest & { settings: string };

export interface SettingsDiffer {
  outcome: 'unavailable';
  reason: 'settings_differ';
  /** The settings of the verifier; missing where they agree and the question's terms do not. */
  settings?: string;
}

export type SettingsComparison =
  /**
   * `takesAuthorizations`: whether the EIP-712 domain in the settings is the token's, so that EIP-3009 authorizations can
   * be paid; missing until the chain has told.
   */
  { outcome: 'agreed'; takesAuthorizations?: boolean } | SettingsDiffer;

/** True for the answer of a verifier whose payment settings differ from the asker's. */
export function isSettingsDiffer(answer: object): answer is SettingsDiffer {
  return 'reason' in answer && answer.reason === 'settings_differ';
}

/** Sent to any verifier over `VERIFY_QUEUE`. */
export const VERIFY_SIGNED_PAYMENT = 'verify-signed-payment.v1';
/** Sent over `SETTLE_QUEUE`, which only verifiers with a relayer's lane serve. */
export const SETTLE_SIGNED_PAYMENT = 'settle-signed-payment.v1';

/** The queue that gateways put settlements into. */
export const SETTLE_QUEUE = 'settle';

/** The terms that a signed payment must meet. Addresses are lower case. */
export interface SignedPaymentTerms {
  chainId: number;
  asset: Hex;
  /** The token's EIP-712 domain. */
  assetName: string;
  assetVersion: string;
  payTo: Hex;
  /** Under scheme `upto` the upper limit. */
  priceBaseUnits: string;
}

/** Repeating the request with the same `owner` is safe. */
export interface VerifySignedPaymentRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  terms: SignedPaymentTerms;
  payment: SignedPayment;
  /** The client whose shares of look-ups and waits are charged. */
  clientAddress: string;
  /** How long a payment whose money has not moved must stay valid; absent: as long as a settlement usually takes. */
  validForMs?: number;
  /** Null when the payment is only to be checked, not claimed. */
  claim: {
    /** 128 random bits, base64url, made by the gateway for this request. */
    owner: string;
    fingerprint: string;
    /** Hash of something that only the payer knows (the Idempotency-Key or the reference); null without one. */
    retryKey: string | null;
    leaseMs: number;
    /** Refused as `unknown_reference` unless its money has moved, and busy where it may still be moving. */
    mustBeSettled?: true;
  } | null;
}

/** A settlement that already happened, by an earlier attempt or by a third party that sent the signed payment. */
export interface EarlierSettlement {
  txHash: Hex | null;
  /** The amount moved, where it may be less than the price (scheme `upto`). */
  amountBaseUnits?: string;
}

/**
 * A simulation: at the newest block the call that settles the payment succeeded. Only for payers without code that
 * signed with their own key.
 */
export interface PaymentSimulation {
  /** When it was simulated, on the clock of the ledger's Redis. */
  atMs: number;
  /** The payer's balance at that time. */
  balanceBaseUnits: string;
}

export type SignedPaymentVerdict =
  | ({ outcome: 'claimed'; lease: Lease; payer: Hex; simulation?: PaymentSimulation } & EarlierSettlement)
  /** Only checked, as requested; nothing was claimed. */
  | ({ outcome: 'valid'; payer: Hex } & EarlierSettlement)
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  /** What it pays for is busy, and is not to be asked before then. */
  | { outcome: 'paused'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; failure: PaymentFailure; payer?: Hex; retryAfterMs?: number }
  /** Unknown for now (chain or ledger unreachable); never counts as refused. */
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };

/** Repeating the request joins the settlement in progress, or returns the result of one that ended. */
export interface SettleSignedPaymentRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. After it the answer is `pending`, and the settlement goes on. */
  deadlineMs: number;
  terms: SignedPaymentTerms;
  payment: SignedPayment;
  /** The amount to move: the price, or under scheme `upto` possibly less. Never zero: nothing is settled then. */
  amountBaseUnits: string;
  /** As in the verdict; a recent simulation need not be repeated. */
  simulation?: PaymentSimulation;
}

export type SettlementResult =
  | { outcome: 'settled'; txHash: Hex; payer: Hex; amountBaseUnits: string }
  /** This service moved nothing, and none of its transactions in flight still can. */
  | { outcome: 'failed'; failure: PaymentFailure; txHash: Hex | null }
  /** Sent, or about to be; ask again. Must not be treated as a refusal: a payer asked to pay again would pay twice. */
  | { outcome: 'pending'; txHash: Hex | null }
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };
