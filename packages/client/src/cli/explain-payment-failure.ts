import {
  decodeJsonHeader,
  IDEMPOTENT_REPLAYED,
  PAYMENT_RESPONSE,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
} from '@tollgate/protocol';

import type { StoredPayment } from '../store/payment-store.js';
import { endsAtMs } from '../store/signed-facts.js';

const MAX_HEADER_BYTES = 16_384;

/** The state of a payment whose request got a status of 400 or more, as far as the server reports it. */
export function explainPaymentFailure(payment: StoredPayment, { status, headers }: Response): string {
  return `The answer has status ${status}. ${explainPayment(payment, headers)}`;
}

function explainPayment({ transaction, authorization }: StoredPayment, headers: Headers): string {
  if (headers.get(IDEMPOTENT_REPLAYED) === 'true') {
    return 'It is the answer that the payment has bought: the payment is spent.';
  }
  if (headers.get(X_PAYMENT_RELEASED) === 'true') {
    if (transaction) {
      return `The payment is not spent: the transfer ${transaction.txHash} remains valid, and the same command presents it again and pays nothing more.`;
    }
    const validBefore = new Date(authorization ? endsAtMs(authorization) : 0).toISOString();
    return `The payment is not spent: the same command presents the same authorization again, and signs no other one before ${validBefore}.`;
  }
  if (saysSettled(headers))
    return 'The payment was settled nevertheless: the same command presents it again, and pays nothing more.';
  return 'The server does not say whether the payment was settled: the same command presents it again, and pays nothing more.';
}

/** Servers that settle a signed payment report it in a header, with any status. */
function saysSettled(headers: Headers): boolean {
  const header = headers.get(PAYMENT_RESPONSE) ?? headers.get(X_PAYMENT_RESPONSE);
  if (header === null) return false;
  try {
    return decodeJsonHeader(header, MAX_HEADER_BYTES)['success'] === true;
  } catch {
    return false;
  }
}
