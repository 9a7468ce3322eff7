import {
  decodeJsonHeader,
  facilitatorReasonFor,
  IDEMPOTENCY_KEY,
  isRecord,
  nonceOf,
  ownField,
  parsePaymentPayload,
  payerOf,
  PAYMENT_IDENTIFIER,
  PAYMENT_SIGNATURE,
  PaymentError,
  X_PAYMENT,
  type PaymentFailure,
  type PaymentPayload,
  type SignedPayment,
} from '@tollgate/protocol';

/** The parts of a request that a gate reads. */
export interface GateRequest {
  readonly method: string;
  /** An absolute URL. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /**
   * The body, if it is available before the handler runs. A different body makes a different request. Rejects with
   * `BrokenBodyError` if the client did not send the whole body.
   */
  readonly readBody?: () => Promise<string | Uint8Array | null>;
  /** Whether the client has disconnected, so that nothing is delivered to it; default: never. */
  readonly isGone?: () => boolean;
}

/** The client broke off its request before the body was complete. */
export class BrokenBodyError extends Error {
  override readonly name = 'BrokenBodyError';
}

/** A well-formed payment whose content is not verified yet. */
export interface GatePayment {
  readonly version: 1 | 2;
  /** As the client sent it. */
  readonly paymentPayload: object;
  readonly payment: SignedPayment;
  /** The reference of the challenge, as an x402 v2 client returns it. */
  readonly reference: string | null;
  /**
   * A value that the payer knows and the chain does not; null if a repeat by the payer cannot be distinguished from a
   * stolen payment.
   */
  readonly secret: string | null;
}

const MAX_HEADER_BYTES = 16_384;
/** Shorter ones, such as `1`, can be guessed. The extension `payment-identifier` has the same minimum. */
const MIN_SECRET_CHARACTERS = 16;

/**
 * Reads the payment of a request; null without one. A HEAD only asks for the price: a payment spent on it would buy
 * nothing.
 */
export function readPayment(request: GateRequest): GatePayment | { readonly reason: string } | null {
  const { method, header } = request;
  const [v1, v2] = [header(X_PAYMENT), header(PAYMENT_SIGNATURE)];
  const version = v2 === undefined ? 1 : 2;
  const text = v2 ?? v1;
  if (text === undefined || method === 'HEAD') return null;
  try {
    const paymentPayload = decodeJsonHeader(text, MAX_HEADER_BYTES);
    const payload = parsePaymentPayload(paymentPayload);
    if (payload.version !== version) return { reason: facilitatorReasonFor('wrong_version', version) };
    const { reference, identifier } = readNames(payload);
    const names = [reference, identifier, header(IDEMPOTENCY_KEY)].filter((name) => name != null);
    const isSecret = names.some((name) => name.length >= MIN_SECRET_CHARACTERS);
    return { version, paymentPayload, payment: payload.payment, reference, secret: isSecret ? names.join('\n') : null };
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    return { reason: facilitatorReasonFor(error.code as PaymentFailure, version) };
  }
}

/** The reference and the payment identifier, which x402 v1 does not have. */
function readNames(payload: PaymentPayload): { reference: string | null; identifier: string | null } {
  if (payload.version === 1) return { reference: null, identifier: null };
  const extension = ownField(payload.extensions, PAYMENT_IDENTIFIER);
  const info = isRecord(extension) ? ownField(extension, 'info') : undefined;
  const [reference, identifier] = [
    ownField(payload.acceptedExtra, 'reference'),
    isRecord(info) && ownField(info, 'id'),
  ];
  return {
    reference: typeof reference === 'string' ? reference : null,
    identifier: typeof identifier === 'string' ? identifier : null,
  };
}

/** The name of a payment in the store. It is unique, since a payer's nonce is valid for one payment only. */
export function nameOf(payment: SignedPayment, chainId: number, asset: string): string {
  return [chainId, asset.toLowerCase(), payment.kind, payerOf(payment), nonceOf(payment)].join(':');
}
