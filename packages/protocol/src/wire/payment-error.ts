/** Why a gate refused a proof. The code is sent in the header `X-Payment-Failure`; the list is stable. */
export const PAYMENT_FAILURES = [
  'malformed_proof',
  'wrong_version',
  'wrong_scheme',
  'wrong_network',
  'unknown_reference',
  'receipt_missing',
  'transaction_failed',
  'transfer_missing',
  'amount_too_low',
  'payment_late',
  'payment_too_old',
  'older_than_ledger',
  'not_confirmed',
  'lock_mismatch',
  'not_bound',
  'signature_invalid',
  'payment_used',
  'released_too_often',
  'payment_refunded',
  'recipient_mismatch',
  'amount_mismatch',
  'authorization_not_yet_valid',
  'authorization_expired',
  'balance_too_low',
  'asset_has_no_code',
  'factory_not_allowed',
  'simulation_failed',
  'authorization_cancelled',
  'settlement_failed',
  'asset_mismatch',
  'spender_mismatch',
  'facilitator_mismatch',
  'permit2_allowance_missing',
  'permit2_missing',
  'belongs_to_permit',
  'receipt_too_large',
  'contract_wallet_refused',
  'contract_wallet_paused',
  'deployment_too_costly',
] as const;
export type PaymentFailure = (typeof PAYMENT_FAILURES)[number];

/** The failures of a signature after which no tokens have moved: see docs/errors.md. */
export const UNMOVED_FAILURES: ReadonlySet<string> = new Set<PaymentFailure>([
  ...(['signature_invalid', 'authorization_not_yet_valid', 'authorization_expired'] as const),
  ...(['authorization_cancelled', 'simulation_failed', 'settlement_failed', 'asset_mismatch'] as const),
  ...(['spender_mismatch', 'factory_not_allowed', 'permit2_allowance_missing', 'permit2_missing'] as const),
  ...(['contract_wallet_refused', 'deployment_too_costly'] as const),
]);

/** Why a paying client stopped. These codes are never sent. */
export const CLIENT_FAILURES = [
  'malformed_challenge',
  'invalid_amount',
  'invalid_options',
  'expected_402',
  'insecure_url',
  'redirect_refused',
  'body_not_replayable',
  'idempotency_key_reused',
  'no_trusted_requirement',
  'over_limit',
  'wrong_chain',
  'wallet_unavailable',
  'cannot_pay',
  'broadcast_refused',
  'payment_pending',
  'payment_not_accepted',
  'payment_unredeemed',
  'store_damaged',
  'store_busy',
  'store_unavailable',
] as const;
export type ClientFailure = (typeof CLIENT_FAILURES)[number];

export type PaymentErrorCode = PaymentFailure | ClientFailure;

export interface PaymentErrorOptions {
  /** What to do next, in one sentence. */
  hint?: string;
  /** Facts about the error; never secrets. */
  details?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

/**
 * Every error of the protocol and of the client: a stable `code`, a message of one sentence, facts, and what to do
 * next.
 */
export class PaymentError extends Error {
  readonly code: PaymentErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: PaymentErrorCode, message: string, options: PaymentErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PaymentError';
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }
}

export type ChallengeError =
  | 'Invalid payment format or network'
  | 'Payment already used'
  | 'Payment verification failed';

/**
 * The text of the challenge's `error` field for a failure. The first and the third text are from the specification
 * (section "Errors"); the second is ours, for a case that the specification leaves open.
 */
export function challengeErrorFor(failure: PaymentFailure): ChallengeError {
  switch (failure) {
    case 'malformed_proof':
    case 'wrong_version':
    case 'wrong_scheme':
    case 'wrong_network':
      return 'Invalid payment format or network';
    case 'payment_used':
      return 'Payment already used';
    default:
      return 'Payment verification failed';
  }
}
