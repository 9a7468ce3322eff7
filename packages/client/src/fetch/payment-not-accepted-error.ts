import { PAYMENT_FAILURES, PaymentError, type Hex, type PaymentFailure } from '@tollgate/protocol';

import type { SignedName } from './create-payment-headers.js';

const STAYS =
  'The payment stays in the store, and the next call presents it again. To make a new payment, abandon it there.';
const REFUNDED =
  'The seller pays it back, so it buys nothing any more. Abandon it in the store; the next call then makes a new payment.';

/**
 * The server refused a payment that was made. The payment stays in the store; no other payment is made for the request.
 */
export class PaymentNotAcceptedError extends PaymentError {
  /** The server's `X-Payment-Failure`, or null when it sent none, or an unknown one. */
  readonly failure: PaymentFailure | null;
  /** Null if the payment is an authorization. */
  readonly txHash: Hex | null;

  constructor(input: {
    failure: string | null;
    challengeError: string | null;
    signed: SignedName;
    url: string;
    key: string;
  }) {
    const { challengeError, signed, url, key } = input;
    const failure = PAYMENT_FAILURES.find((known) => known === input.failure) ?? null;
    const reason = failure ?? challengeError ?? 'no reason given';
    const txHash = 'txHash' in signed ? signed.txHash : null;
    super('payment_not_accepted', `The server did not accept the payment ${txHash ?? 'that was signed'}: ${reason}.`, {
      hint: failure === 'payment_refunded' ? REFUNDED : STAYS,
      details: { failure, challengeError, ...signed, url, key },
    });
    this.name = 'PaymentNotAcceptedError';
    this.failure = failure;
    this.txHash = txHash;
  }
}
