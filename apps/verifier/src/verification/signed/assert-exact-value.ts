import type { TransferAuthorization } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/** The payer signed for the price, no more and no less (scheme `exact`); refuses `amount_mismatch`. */
export function assertExactValue({ value }: Pick<TransferAuthorization, 'value'>, priceBaseUnits: string): void {
  if (BigInt(value) !== BigInt(priceBaseUnits)) throw new PaymentRefused('amount_mismatch');
}
