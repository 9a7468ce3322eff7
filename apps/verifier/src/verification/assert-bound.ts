import type { PaymentPolicy, VerifyPaymentRequest } from '@tollgate/common';

import type { OpenedPayments } from './assert-lock-matches.js';
import type { Payment } from './find-payments.js';
import { findSigners, type AskedContracts } from './find-signers.js';
import { PaymentRefused } from './payment-refused.js';

export interface BoundPayments {
  payments: Payment[];
  /** The payer committed to the request's reference. */
  isBound: boolean;
}

/**
 * Binds payments without a lock by the payer's signature over reference and hash, if one is given.
 *
 * Refuses `signature_invalid` when no payer made the signature, and under policy `bound` `not_bound` without lock and
 * signature.
 */
export async function assertBound(
  { payments, isLocked }: OpenedPayments,
  { reference, signature, txHash, deadlineMs }: VerifyPaymentRequest,
  policy: PaymentPolicy,
  contracts: AskedContracts,
): Promise<BoundPayments> {
  if (isLocked) return { payments, isBound: true };
  if (reference !== undefined && signature !== undefined) {
    const payers = new Set(payments.map(({ from }) => from));
    const signers = await findSigners({ reference: reference.text, txHash, signature, deadlineMs }, payers, contracts);
    if (signers.size === 0) throw new PaymentRefused('signature_invalid');
    return { payments: payments.filter(({ from }) => signers.has(from)), isBound: true };
  }
  if (policy === 'bound') throw new PaymentRefused('not_bound');
  return { payments, isBound: false };
}
