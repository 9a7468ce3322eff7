import type { Payment } from './find-payments.js';
import { PaymentRefused } from './payment-refused.js';

/** Keeps the payments of at least the price; refuses `amount_too_low` when there are none. */
export function assertPricePaid(payments: readonly Payment[], priceBaseUnits: bigint): [Payment, ...Payment[]] {
  const [first, ...others] = payments.filter(({ amountBaseUnits }) => amountBaseUnits >= priceBaseUnits);
  if (first === undefined) throw new PaymentRefused('amount_too_low');
  return [first, ...others];
}
