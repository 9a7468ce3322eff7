import type { Hex } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals.js';

/** The payer must have signed for the requested recipient; refuses `recipient_mismatch`. */
export function assertRecipient(recipient: Hex, payTo: Hex): void {
  if (recipient !== payTo) throw new PaymentRefused('recipient_mismatch');
}

/** The signed amount must be exactly the price (scheme `exact`); refuses `amount_mismatch`. */
export function assertExactAmount(amountBaseUnits: string, priceBaseUnits: string): void {
  if (BigInt(amountBaseUnits) !== BigInt(priceBaseUnits)) throw new PaymentRefused('amount_mismatch');
}
