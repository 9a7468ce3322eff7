import { PaymentRefused } from '../payment-refused.js';

/** The payer must have the signed amount; refuses `balance_too_low`. */
export function assertBalance(balanceBaseUnits: bigint, value: string): void {
  if (balanceBaseUnits < BigInt(value)) throw new PaymentRefused('balance_too_low');
}
