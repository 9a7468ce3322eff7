import { methodOfScheme, signedMethodOf, type SignedPayment } from '../methods/registry.js';
import type { FacilitatorReason, MethodReasons, SignedScheme } from '../methods/signed-method.js';
import type { PaymentFailure } from '../wire/payment-error.js';

const TRANSACTION_FAILED: FacilitatorReason = {
  v1: 'invalid_transaction_state',
  v2: 'invalid_exact_evm_transaction_failed',
};

/** Of a failure that has no other one. */
const INVALID_PAYMENT = same('invalid_payment');

/**
 * The reasons that published servers and clients use for our failures, by x402 version. Version 1 has a closed list; a
 * failure without a reason there uses the nearest one.
 */
const REASONS: Readonly<Partial<Record<PaymentFailure, FacilitatorReason>>> = {
  malformed_proof: same('invalid_payload'),
  wrong_version: same('invalid_x402_version'),
  wrong_scheme: { v1: 'unsupported_scheme', v2: 'invalid_exact_evm_scheme' },
  wrong_network: {
    v1: 'invalid_network',
    v2: 'invalid_exact_evm_network_mismatch',
  },
  receipt_missing: same('invalid_transaction_state'),
  transaction_failed: TRANSACTION_FAILED,
  transfer_missing: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transfer_event_mismatch' },
  amount_too_low: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_authorization_value',
  },
  payment_late: same('payment_expired'),
  payment_too_old: same('payment_expired'),
  older_than_ledger: same('payment_expired'),
  not_confirmed: same('invalid_transaction_state'),
  signature_invalid: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_signature',
  },
  payment_used: {
    v1: 'duplicate_settlement',
    v2: 'invalid_exact_evm_nonce_already_used',
  },
  recipient_mismatch: {
    v1: 'invalid_exact_evm_payload_recipient_mismatch',
    v2: 'invalid_exact_evm_recipient_mismatch',
  },
  amount_mismatch: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_payload_authorization_value_mismatch',
  },
  authorization_not_yet_valid: same('invalid_exact_evm_payload_authorization_valid_after'),
  authorization_expired: same('invalid_exact_evm_payload_authorization_valid_before'),
  balance_too_low: {
    v1: 'insufficient_funds',
    v2: 'invalid_exact_evm_insufficient_balance',
  },
  asset_has_no_code: { v1: 'invalid_payment_requirements', v2: 'asset_not_deployed_contract' },
  factory_not_allowed: {
    v1: 'invalid_exact_evm_payload_undeployed_smart_wallet',
    v2: 'eip6492_factory_not_allowed',
  },
  simulation_failed: {
    v1: 'invalid_transaction_state',
    v2: 'invalid_exact_evm_transaction_simulation_failed',
  },
  authorization_cancelled: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_nonce_already_used' },
  settlement_failed: TRANSACTION_FAILED,
  asset_mismatch: same('invalid_payload'),
  spender_mismatch: same('invalid_payload'),
  facilitator_mismatch: same('invalid_payload'),
  deployment_too_costly: {
    v1: 'invalid_exact_evm_payload_undeployed_smart_wallet',
    v2: 'invalid_payment',
  },
};

/** Reason for a requirement that the facilitator does not serve, because of its asset or a missing field. */
export const INVALID_REQUIREMENTS = 'invalid_payment_requirements';
/** Reason for a payment that was already settled and answered. */
export const DUPLICATE_SETTLEMENT = 'duplicate_settlement';
/** Reason for a payment whose settlement is in progress; settling it again returns its result. */
export const SETTLEMENT_PENDING = 'settlement_pending';

/** Reason for a settlement by scheme `upto` over more than the payer signed. */
export const SETTLEMENT_EXCEEDS_AMOUNT = 'invalid_upto_evm_payload_settlement_exceeds_amount';

/** The published protocol's reason for a failure. @param own what a method says instead */
export function facilitatorReasonFor(
  failure: PaymentFailure,
  version: 1 | 2,
  { [failure]: own }: MethodReasons = {},
): string {
  const usual = REASONS[failure] ?? INVALID_PAYMENT;
  const { v1, v2 } = typeof own === 'string' ? { ...usual, v2: own } : (own ?? usual);
  return version === 1 ? v1 : v2;
}

/** What the method of a payment says of its failures; nothing of its own for a transaction that the payer sent. */
export function reasonsOf(payment: SignedPayment | { readonly kind: 'transaction' }): MethodReasons {
  if (payment.kind === 'transaction') return {};
  const method = signedMethodOf(payment);
  return method.reasons[method.schemeOf(payment)] ?? {};
}

/** The same for a payment that could not be read, of which only the scheme is known. */
export function reasonsOfScheme(scheme: string): MethodReasons {
  return methodOfScheme(scheme)?.reasons[scheme as SignedScheme] ?? {};
}

function same(reason: string): FacilitatorReason {
  return { v1: reason, v2: reason };
}
