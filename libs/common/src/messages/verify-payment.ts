import type { Lease, PaymentId } from '@tollgate/ledger';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

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
  /** Hash of the Idempotency-Key, null without one. */
  retryKey: string | null;
  leaseMs: number;
  /** The client whose shares of look-ups and waits are charged. */
  clientAddress: string;
}

export type VerifyPaymentVerdict =
  /** `amountBaseUnits`: what was transferred; missing if the policy does not say which transfer pays. */
  | { outcome: 'claimed'; lease: Lease; bound: boolean; payer: Hex; amountBaseUnits?: string }
  | { outcome: 'answered'; id: PaymentId }
  | { outcome: 'busy'; retryAfterMs: number }
  | { outcome: 'conflict' }
  | { outcome: 'refused'; failure: PaymentFailure; retryAfterMs?: number }
  /** Unknown for now (chain or ledger unreachable); never counts as refused. */
  | { outcome: 'unavailable'; reason: string; retryAfterMs?: number };
