import type { SignedPermit } from '@tollgate/protocol';

import { PaymentRefused } from '../payment-refused.js';
import { assertExactValue } from './assert-exact-value.js';

/**
 * The signed amount must be exactly the price under scheme `exact` (`amount_mismatch`), and at least the price under
 * `upto`, where only what was used is moved (`amount_too_low`).
 */
export function assertPermittedValue({ scheme, permit2Authorization }: SignedPermit, priceBaseUnits: string): void {
  const { amount } = permit2Authorization.permitted;
  if (scheme === 'exact') assertExactValue({ value: amount }, priceBaseUnits);
  else if (BigInt(amount) < BigInt(priceBaseUnits)) throw new PaymentRefused('amount_too_low');
}
