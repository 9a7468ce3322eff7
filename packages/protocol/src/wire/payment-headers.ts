/** Request: base64 of a payment proof (specification, "GET /api/weather"), or of a signed payment of x402 version 1. */
export const X_PAYMENT = 'X-Payment';
/** Request: base64 of a payment of x402 version 2. */
export const PAYMENT_SIGNATURE = 'PAYMENT-SIGNATURE';
/** Request: an MPP credential, where `Authorization` is the application's own. */
export const PAYMENT_AUTHORIZATION = 'Payment-Authorization';
/** Request: 1-255 visible characters that identify one purchase, so that a repeat gets the stored answer. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';
/**
 * Request: base64 of a message signed by an account that has paid before (extension `sign-in-with-x` of x402 version
 * 2).
 */
export const SIGN_IN_WITH_X = 'SIGN-IN-WITH-X';
/** Answer: base64 of the payment requirements in the form of x402 version 2. */
export const PAYMENT_REQUIRED = 'PAYMENT-REQUIRED';
/** Answer: base64 of the settlement result of a signed payment of x402 version 1. */
export const X_PAYMENT_RESPONSE = 'X-PAYMENT-RESPONSE';
/** Answer: base64 of the settlement result of a payment of x402 version 2. */
export const PAYMENT_RESPONSE = 'PAYMENT-RESPONSE';
/** Answer: base64url of the receipt for a payment by MPP. */
export const PAYMENT_RECEIPT = 'Payment-Receipt';
/** Answer: the stable code of a refusal, one of `PAYMENT_FAILURES`. */
export const X_PAYMENT_FAILURE = 'X-Payment-Failure';
/** Answer: why a sign-in was refused, one of `SIGN_IN_FAILURES`. */
export const X_SIGN_IN_FAILURE = 'X-Sign-In-Failure';
/** Answer: `true` when the resource failed and the payment was not used; the same proof may be sent again. */
export const X_PAYMENT_RELEASED = 'X-Payment-Released';
/** Answer: `true` when this is the stored answer of an earlier request. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';
