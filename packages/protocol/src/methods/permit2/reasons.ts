import type { MethodReasons } from '../signed-method.js';

const EXACT: MethodReasons = {
  amount_too_low: 'permit2_amount_mismatch',
  amount_mismatch: 'permit2_amount_mismatch',
  signature_invalid: 'invalid_permit2_signature',
  payment_used: 'permit2_invalid_nonce',
  recipient_mismatch: 'invalid_permit2_recipient_mismatch',
  authorization_not_yet_valid: 'permit2_not_yet_valid',
  authorization_expired: 'permit2_deadline_expired',
  balance_too_low: 'permit2_insufficient_balance',
  simulation_failed: 'permit2_simulation_failed',
};

/** The reasons of published x402 for a permit, by scheme, where they differ from those for an authorization. */
export const PERMIT_REASONS = {
  exact: EXACT,
  upto: {
    ...EXACT,
    wrong_scheme: 'invalid_upto_evm_scheme',
    wrong_network: 'invalid_upto_evm_network_mismatch',
    transaction_failed: 'invalid_upto_evm_transaction_failed',
    settlement_failed: 'invalid_upto_evm_transaction_failed',
  },
};
