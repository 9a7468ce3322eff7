import { PAYMENT_FAILURES, PaymentError, type Hex, type PaymentFailure } from '@tollgate/protocol';

/** The server refused a payment that was made. It stays in the store; no other payment is made for the request. */
export class PaymentNotAcceptedError extends PaymentError {
  /** The server's `X-Payment-Failure`, or null when it gave none that is known. */
  readonly failure: PaymentFailure | null;
  readonly txHash: Hex;

  constructor(input: { failure: string | null; challengeError: string | null; txHash: Hex; url: string; key: string }) {
    const failure = PAYMENT_FAILURES.find((known) => known === input.failure) ?? null;
    const reason = failure ?? input.challengeError ?? 'no reason given';
    super('payment_not_accepted', `The server did not accept the payment ${input.txHash}: ${reason}.`, {
      hint: 'The payment stays in the store and is shown again by the next call; abandon it there to pay anew.',
      details: { failure, challengeError: input.challengeError, txHash: input.txHash, url: input.url, key: input.key },
    });
    this.name = 'PaymentNotAcceptedError';
    this.failure = failure;
    this.txHash = input.txHash;
  }
}
