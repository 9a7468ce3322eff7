import type { Payment } from './find-payments.js';
import { PaymentRefused } from './payment-refused.js';

/** The gateway's clock stamps the challenge, a validator's clock the block: they may differ by this much. */
const CLOCK_SKEW_MS = 15_000;

/**
 * A payment bound to a challenge must be mined within `maxTimeoutSeconds` of it (specification, "Limits"). Refuses
 * `payment_late`. The refusal is recorded for a refund only if a lock makes it final: without one the payer may sign
 * for another challenge and be served.
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
