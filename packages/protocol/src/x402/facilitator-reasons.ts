import type { SignedPayment } from '../methods/registry.js';
import type { PaymentFailure } from '../wire/payment-error.js';

interface FacilitatorReason {
  readonly v1: string;
  readonly v2: string;
  /** The version 2 reason for a permit, if it differs. */
  readonly permit?: string;
  /** The reason for a permit of scheme `upto`, if it differs from `permit`. */
  readonly upto?: string;
}

/** The kind of a signed payment: an EIP-3009 transfer, or a permit of one of the schemes. */
export type SignedKind = 'authorization' | 'permit' | 'upto';

const TRANSACTION_FAILED: FacilitatorReason = {
  v1: 'invalid_transaction_state',
  v2: 'invalid_exact_evm_transaction_failed',
  upto: 'invalid_upto_evm_transaction_failed',
};

/**
 * The reasons that published servers and clients use for our failures, by x402 version. Version 1 has a closed list; a
 * failure without a reason there uses the nearest one.
 */
const REASONS: Readonly<Record<PaymentFailure, FacilitatorReason>> = {
  malformed_proof: same('invalid_payload'),
  wrong_version: same('invalid_x402_version'),
  wrong_scheme: { v1: 'unsupported_scheme', v2: 'invalid_exact_evm_scheme', upto: 'invalid_upto_evm_scheme' },
  wrong_network: {
    v1: 'invalid_network',
    v2: 'invalid_exact_evm_network_mismatch',
    upto: 'invalid_upto_evm_network_mismatch',
  },
  unknown_reference: same('invalid_payment'),
  receipt_missing: same('invalid_transaction_state'),
  transaction_failed: TRANSACTION_FAILED,
  transfer_missing: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transfer_event_mismatch' },
  amount_too_low: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_authorization_value',
    permit: 'permit2_amount_mismatch',
  },
  payment_late: same('payment_expired'),
  payment_too_old: same('payment_expired'),
  older_than_ledger: same('payment_expired'),
  not_confirmed: same('invalid_transaction_state'),
  lock_mismatch: same('invalid_payment'),
  not_bound: same('invalid_payment'),
  signature_invalid: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_signature',
    permit: 'invalid_permit2_signature',
  },
  payment_used: {
    v1: 'duplicate_settlement',
    v2: 'invalid_exact_evm_nonce_already_used',
    permit: 'permit2_invalid_nonce',
  },
  released_too_often: same('invalid_payment'),
  payment_refunded: same('invalid_payment'),
  recipient_mismatch: {
    v1: 'invalid_exact_evm_payload_recipient_mismatch',
    v2: 'invalid_exact_evm_recipient_mismatch',
    permit: 'invalid_permit2_recipient_mismatch',
  },
  amount_mismatch: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_payload_authorization_value_mismatch',
    permit: 'permit2_amount_mismatch',
  },
  authorization_not_yet_valid: {
    ...same('invalid_exact_evm_payload_authorization_valid_after'),
    permit: 'permit2_not_yet_valid',
  },
  authorization_expired: {
    ...same('invalid_exact_evm_payload_authorization_valid_before'),
    permit: 'permit2_deadline_expired',
  },
  balance_too_low: {
    v1: 'insufficient_funds',
    v2: 'invalid_exact_evm_insufficient_balance',
    permit: 'permit2_insufficient_balance',
  },
  asset_has_no_code: { v1: 'invalid_payment_requirements', v2: 'asset_not_deployed_contract' },
  factory_not_allowed: {
    v1: 'invalid_exact_evm_payload_undeployed_smart_wallet',
    v2: 'eip6492_factory_not_allowed',
  },
  simulation_failed: {
    v1: 'invalid_transaction_state',
    v2: 'invalid_exact_evm_transaction_simulation_failed',
    permit: 'permit2_simulation_failed',
  },
  authorization_cancelled: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_nonce_already_used' },
  settlement_failed: TRANSACTION_FAILED,
  asset_mismatch: { v1: 'invalid_payload', v2: 'permit2_token_mismatch' },
  spender_mismatch: { v1: 'invalid_payload', v2: 'invalid_permit2_spender' },
  facilitator_mismatch: { v1: 'invalid_payload', v2: 'upto_facilitator_mismatch' },
  permit2_allowance_missing: { v1: 'insufficient_funds', v2: 'permit2_allowance_required' },
  permit2_missing: { v1: 'invalid_payment_requirements', v2: 'permit2_proxy_not_deployed' },
  belongs_to_permit: same('invalid_payment'),
  receipt_too_large: same('invalid_payment'),
  contract_wallet_refused: same('invalid_payment'),
  contract_wallet_paused: same('invalid_payment'),
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

/** The published protocol's reason for a failure of a signed payment. */
export function facilitatorReasonFor(
  failure: PaymentFailure,
  version: 1 | 2,
  kind: SignedKind = 'authorization',
): string {
  const { v1, v2, permit = v2, upto = permit } = REASONS[failure];
  return version === 1 ? v1 : { authorization: v2, permit, upto }[kind];
}

export function signedKindOf(payment: SignedPayment): SignedKind {
  if (payment.kind === 'authorization') return 'authorization';
  return payment.scheme === 'upto' ? 'upto' : 'permit';
}

function same(reason: string): FacilitatorReason {
  return { v1: reason, v2: reason };
}
