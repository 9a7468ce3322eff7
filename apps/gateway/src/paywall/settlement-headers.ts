import {
  encodeJsonHeader,
  encodePaymentReceipt,
  facilitatorReasonFor,
  PAYMENT_RECEIPT,
  PAYMENT_RESPONSE,
  X_PAYMENT_RESPONSE,
  type Hex,
  type PaymentFailure,
  type SettleResponse,
} from '@tollgate/protocol';

import type { Purchase } from './purchase.js';

/** A payment that has been made. */
export interface MadePayment {
  readonly txHash: Hex;
  readonly payer: Hex;
}

/** What tells the client in its own words that its payment was taken; nothing where proofs are as documented. */
export function createSettlementHeaders(
  { form, network }: Purchase,
  { txHash: transaction, payer }: MadePayment,
  { status, nowMs }: { readonly status: number; readonly nowMs: number },
): [string, string][] {
  switch (form) {
    case 'documented':
      return [];
    case 'v1':
      return [[X_PAYMENT_RESPONSE, encode({ success: true, transaction, network, payer })]];
    case 'v2':
      return [[PAYMENT_RESPONSE, encode({ success: true, transaction, network, payer })]];
    case 'mpp':
      // A receipt stands on an answer that succeeded, and nowhere else.
      return status < 400 ? [[PAYMENT_RECEIPT, encodePaymentReceipt({ txHash: transaction, settledAtMs: nowMs })]] : [];
  }
}

/** The same for a payment that was tried to settle, and failed. */
export function createFailureHeaders({ form, network }: Purchase, failure: PaymentFailure): [string, string][] {
  if (form !== 'v1' && form !== 'v2') return [];
  const errorReason = facilitatorReasonFor(failure, form === 'v1' ? 1 : 2);
  const response = encode({ success: false, errorReason, transaction: '', network });
  return [[form === 'v1' ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE, response]];
}

function encode(response: SettleResponse): string {
  return encodeJsonHeader(response);
}
