import {
  encodeJsonHeader,
  encodePaymentReceipt,
  facilitatorReasonFor,
  PAYMENT_RECEIPT,
  PAYMENT_RESPONSE,
  signedKindOf,
  X_PAYMENT_RESPONSE,
  type Hex,
  type PaymentFailure,
  type SettleResponse,
} from '@tollgate/protocol';

import type { Purchase } from './purchase.js';

/** A payment that has been made. */
export interface MadePayment {
  /** Null where it came to nothing, and nothing was moved. */
  readonly txHash: Hex | null;
  /** Undefined where it is not known any more who sent the transaction. */
  readonly payer: Hex | undefined;
  /** What was moved of a maximum; undefined where the price was. */
  readonly amountBaseUnits?: string | undefined;
}

/** What tells the client in its own words that its payment was taken; nothing where proofs are as documented. */
export function createSettlementHeaders(
  { form, network }: Purchase,
  { txHash, payer, amountBaseUnits }: MadePayment,
  { status, nowMs }: { readonly status: number; readonly nowMs: number },
): [string, string][] {
  const response = {
    success: true,
    transaction: txHash ?? '',
    network,
    ...(payer === undefined ? {} : { payer }),
    ...(amountBaseUnits === undefined ? {} : { amount: amountBaseUnits }),
  };
  switch (form) {
    case 'documented':
      return [];
    case 'v1':
      return [[X_PAYMENT_RESPONSE, encode(response)]];
    case 'v2':
      return [[PAYMENT_RESPONSE, encode(response)]];
    case 'mpp':
      // A receipt stands on an answer that succeeded, and nowhere else.
      return status < 400 && txHash !== null
        ? [[PAYMENT_RECEIPT, encodePaymentReceipt({ txHash, settledAtMs: nowMs })]]
        : [];
  }
}

/** The same for a payment that was tried to settle, and failed. */
export function createFailureHeaders(
  { form, network, instrument }: Purchase,
  failure: PaymentFailure,
): [string, string][] {
  if (form !== 'v1' && form !== 'v2') return [];
  const kind = instrument.kind === 'transaction' ? undefined : signedKindOf(instrument);
  const errorReason = facilitatorReasonFor(failure, form === 'v1' ? 1 : 2, kind);
  const response = encode({ success: false, errorReason, transaction: '', network });
  return [[form === 'v1' ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE, response]];
}

function encode(response: SettleResponse): string {
  return encodeJsonHeader(response);
}
