import type { Payment } from './find-payments.js';
import { PaymentRefused } from './payment-refused.js';

/** The gateway stamps the challenge, a validator the block: so much may their clocks differ. */
const CLOCK_SKEW_MS = 15_000;

/**
 * A payment bound to a challenge was mined within `maxTimeoutSeconds` of it (specification, "Limits"). Refuses
 * `payment_late`; for refund where a lock says so for good, since a payer may sign for another challenge and be served.
 */
export function assertPaidInTime(
  payment: Payment,
  minedAtMs: number,
  { issuedAtMs, maxTimeoutSeconds, isLocked }: { issuedAtMs: number; maxTimeoutSeconds: number; isLocked: boolean },
): void {
  if (minedAtMs <= issuedAtMs + maxTimeoutSeconds * 1000 + CLOCK_SKEW_MS) return;
  if (!isLocked) throw new PaymentRefused('payment_late');
  const { id, from, amountBaseUnits } = payment;
  throw new PaymentRefused('payment_late', { id, payer: from, amountBaseUnits, minedAtMs });
}
