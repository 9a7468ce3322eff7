import type { TransferAuthorization } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';

/** The signed amount must be exactly the price (scheme `exact`); refuses `amount_mismatch`. */
export function assertExactValue({ value }: Pick<TransferAuthorization, 'value'>, priceBaseUnits: string): void {
  if (BigInt(value) !== BigInt(priceBaseUnits)) throw new PaymentRefused('amount_mismatch');
}
