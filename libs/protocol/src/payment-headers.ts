/** Request: base64 of a payment proof (specification, "GET /api/weather"). */
export const X_PAYMENT = 'X-Payment';
/** Answer: the stable code of a refusal, one of `PAYMENT_FAILURES`. */
export const X_PAYMENT_FAILURE = 'X-Payment-Failure';
/** Answer: `true` when the resource failed and the payment was not taken; the same proof may be sent again. */
export const X_PAYMENT_RELEASED = 'X-Payment-Released';
/** Request: 1-255 visible characters that name one attempt to buy, so that a repeat gets the stored answer. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';
/** Answer: `true` when it is the stored answer of an earlier request. */
export const IDEMPOTENT_REPLAYED = 'Idempotent-Replayed';
