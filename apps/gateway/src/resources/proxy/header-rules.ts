/** Payments are between client and gateway: no upstream sees a proof, and none can make up a word of the gateway. */
const PAYMENT =
  /^(x-payment(-.*)?|payment(-.*)?|idempotency-key|idempotent-replayed|sign-in-with-x|x-sign-in-failure|tollgate-charge)$/;

/** In answers of an upstream of a metered route: what this one comes to, in units of the asset. No client sees it. */
export const CHARGE = 'tollgate-charge';

export const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'cookie2']);
export const SET_CREDENTIALS: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'clear-site-data']);

export function isPaymentHeader(canonical: string): boolean {
  return PAYMENT.test(canonical);
}
