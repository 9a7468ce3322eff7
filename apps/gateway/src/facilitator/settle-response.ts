import {
  DUPLICATE_SETTLEMENT,
  facilitatorReasonFor,
  SETTLEMENT_EXCEEDS_AMOUNT,
  signedKindOf,
  type PaymentFailure,
  type SettleResponse,
  type SignedPayment,
} from '@tollgate/protocol';

import { isMetered } from '../signed-payments/signed-payments.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';

/** The reason why a payment is not settled, as defined by its x402 version. */
export function reasonFor(failure: PaymentFailure, { version }: FacilitatorRequest, payment: SignedPayment): string {
  if (failure === 'payment_used') return DUPLICATE_SETTLEMENT;
  if (failure === 'amount_too_low' && isMetered(payment)) return SETTLEMENT_EXCEEDS_AMOUNT;
  return facilitatorReasonFor(failure, version, signedKindOf(payment));
}

export function fail(
  { requirement }: FacilitatorRequest,
  errorReason: string,
  errorMessage: string,
  payer?: string,
): SettleResponse {
  return {
    success: false,
    errorReason,
    errorMessage,
    ...(payer !== undefined && { payer }),
    transaction: '',
    network: requirement.network,
  };
}
