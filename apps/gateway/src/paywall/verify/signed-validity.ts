import type { GatewayEnvironment } from '../../config/gateway.config.js';
import type { PaidRoute } from '../route/paid-route.js';

/**
 * How long a signed payment must still be valid when it is presented: until the resource has had its time and the payment
 * is settled, or the resource would work for nothing. Undefined where the payment is settled first.
 */
export function validForMsOf({ settle, timeLimitMs = 0 }: PaidRoute, settleDeadlineMs: number): number | undefined {
  return settle === 'before' ? undefined : timeLimitMs + settleDeadlineMs;
}

/** The routes that take longer than a signed payment is valid, so that none could be paid. */
export function findUnpayable(environment: GatewayEnvironment, routes: readonly PaidRoute[]): string[] {
  const { challenge, payment, verification } = environment;
  if (!challenge.signedPayments) return [];
  const { settleDeadlineMs } = verification;
  const { maxTimeoutSeconds } = payment;
  const unpayable = routes.filter((route) => (validForMsOf(route, settleDeadlineMs) ?? 0) >= maxTimeoutSeconds * 1000);
  return unpayable.map(
    ({ path, timeLimitMs = 0 }) =>
      `${path}: timeoutMs (${timeLimitMs}) and SETTLE_DEADLINE_MS (${settleDeadlineMs}) together are not below MAX_TIMEOUT_SECONDS (${maxTimeoutSeconds}), so signed payments would expire before they are settled. Lower timeoutMs, raise MAX_TIMEOUT_SECONDS, or settle before.`,
  );
}
