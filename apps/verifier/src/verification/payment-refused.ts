import type { Refusal } from '@tollgate/ledger';
import type { PaymentFailure } from '@tollgate/protocol';

/** A rule said no. `record` is set where money arrived that buys nothing: it is noted for refund. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';

  constructor(
    readonly failure: PaymentFailure,
    readonly record?: Omit<Refusal, 'failure'>,
  ) {
    super(failure);
  }
}

/** Time alone may turn these into a yes. */
export function isNotYet(failure: PaymentFailure): boolean {
  return failure === 'receipt_missing' || failure === 'not_confirmed';
}
