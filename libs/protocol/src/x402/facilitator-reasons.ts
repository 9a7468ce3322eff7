import type { PaymentFailure } from '../payment-error.js';

interface FacilitatorReason {
  readonly v1: string;
  readonly v2: string;
}

/**
 * What published servers and clients call our failures, by the version of the protocol. Version 1 has a closed list; a
 * failure it has no word for takes the nearest one.
 */
const REASONS: Readonly<Record<PaymentFailure, FacilitatorReason>> = {
  malformed_proof: same('invalid_payload'),
  wrong_version: same('invalid_x402_version'),
  wrong_scheme: { v1: 'unsupported_scheme', v2: 'invalid_exact_evm_scheme' },
  wrong_network: { v1: 'invalid_network', v2: 'invalid_exact_evm_network_mismatch' },
  unknown_reference: same('invalid_payment'),
  receipt_missing: same('invalid_transaction_state'),
  transaction_failed: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transaction_failed' },
  transfer_missing: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transfer_event_mismatch' },
  amount_too_low: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_authorization_value',
  },
  payment_late: same('payment_expired'),
  payment_too_old: same('payment_expired'),
  older_than_ledger: same('payment_expired'),
  not_confirmed: same('invalid_transaction_state'),
  lock_mismatch: same('invalid_payment'),
  not_bound: same('invalid_payment'),
  signature_invalid: { v1: 'invalid_exact_evm_payload_signature', v2: 'invalid_exact_evm_signature' },
  payment_used: { v1: 'duplicate_settlement', v2: 'invalid_exact_evm_nonce_already_used' },
  released_too_often: same('invalid_payment'),
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
  balance_too_low: { v1: 'insufficient_funds', v2: 'invalid_exact_evm_insufficient_balance' },
  asset_has_no_code: { v1: 'invalid_payment_requirements', v2: 'asset_not_deployed_contract' },
  factory_not_allowed: {
    v1: 'invalid_exact_evm_payload_undeployed_smart_wallet',
    v2: 'eip6492_factory_not_allowed',
  },
  simulation_failed: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transaction_simulation_failed' },
  authorization_cancelled: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_nonce_already_used' },
  settlement_failed: { v1: 'invalid_transaction_state', v2: 'invalid_exact_evm_transaction_failed' },
  asset_mismatch: { v1: 'invalid_payload', v2: 'permit2_token_mismatch' },
  spender_mismatch: { v1: 'invalid_payload', v2: 'invalid_permit2_spender' },
  facilitator_mismatch: { v1: 'invalid_payload', v2: 'upto_facilitator_mismatch' },
  permit2_allowance_missing: { v1: 'insufficient_funds', v2: 'permit2_allowance_required' },
  permit2_missing: { v1: 'invalid_payment_requirements', v2: 'permit2_proxy_not_deployed' },
  belongs_to_permit: same('invalid_payment'),
};

/** Of a requirement that the facilitator does not serve: its asset, or what it leaves out. */
export const INVALID_REQUIREMENTS = 'invalid_payment_requirements';
/** Of a payment that was settled and answered before. */
export const DUPLICATE_SETTLEMENT = 'duplicate_settlement';
/** Of a payment whose settlement is under way: asking again for the same one is how to learn how it ended. */
export const SETTLEMENT_PENDING = 'settlement_pending';

/** The word of the published protocol for a failure. */
export function facilitatorReasonFor(failure: PaymentFailure, version: 1 | 2): string {
  const reason = REASONS[failure];
  return version === 1 ? reason.v1 : reason.v2;
}

function same(reason: string): FacilitatorReason {
  return { v1: reason, v2: reason };
}
