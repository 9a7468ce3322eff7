/**
 * Payment headers concern only client and gateway: no upstream sees a payment, and none can forge a payment header of
 * the gateway.
 */
const PAYMENT =
  /^(x-payment(-.*)?|payment(-.*)?|idempotency-key|idempotent-replayed|sign-in-with-x|x-sign-in-failure|tollgate-charge)$/;

/**
 * Response header in which the upstream of a metered route reports the charge, in units of the asset. It is not sent to
 * the client.
 */
export const CHARGE = 'tollgate-charge';

export const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'cookie2']);
export const SET_CREDENTIALS: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'clear-site-data']);

export function isPaymentHeader(canonical: string): boolean {
  return PAYMENT.test(canonical);
}
