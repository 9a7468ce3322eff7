import type { Refusal } from '@tollgate/ledger';
import type { PaymentFailure } from '@tollgate/protocol';

/** A rule failed. `record` is set when money arrived that buys nothing: it is recorded for a refund. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';

  constructor(
    readonly failure: PaymentFailure,
    readonly record?: Omit<Refusal, 'failure'>,
  ) {
    super(failure);
  }
}

/** Whether the passing of time alone may turn this failure into a success. */
export function isNotYet(failure: PaymentFailure): boolean {
  return failure === 'receipt_missing' || failure === 'not_confirmed';
}
