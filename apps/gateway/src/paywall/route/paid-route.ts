import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import {
  IDEMPOTENCY_KEY,
  PAYMENT_SIGNATURE,
  SIGN_IN_WITH_X,
  withoutPaymentCredentials,
  X_PAYMENT,
} from '@tollgate/protocol';

/** Injection token of the `readonly PaidRoute[]` that the paywall serves. */
export const PAID_ROUTES = Symbol('PAID_ROUTES');

/** A path that is served in exchange for a payment. */
export interface PaidRoute {
  /**
   * For example `/api/weather`, `/v1/quotes/:symbol`, `/files/*`. A parameter is a whole segment; `*` is only allowed
   * at the end.
   */
  readonly path: string;
  /** In capitals. HEAD and OPTIONS are never listed: HEAD always gets a 402 without body, OPTIONS is free. */
  readonly methods: readonly string[];
  readonly priceBaseUnits: bigint;
  /** Whether payers may sign for the price as a maximum and are charged what the response costs. */
  readonly isMetered?: boolean;
  /** For how many seconds a payer may get the same resource again by signing in; 0 or absent: never. */
  readonly revisitSeconds?: number;
  readonly description: string;
  readonly mimeType: string;
  /** `stored`: kept with the payment and replayed on a retry. `streamed`: committed at its first byte. */
  readonly answer: 'stored' | 'streamed';
  /** Which response statuses are charged; any other releases the payment. */
  readonly chargeOn: '<400' | '<500';
  /**
   * When a signed payment is settled. `after`: once the resource has responded, so that no payer pays for a failure.
   * `before`: first, so that the resource does no work for a payment that fails. A streamed response is always settled
   * before.
   */
  readonly settle: 'after' | 'before';
  /** Overrides MAX_REQUEST_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** Schema of the response body, for the OpenAPI document. */
  readonly answerSchema?: { readonly name: string; readonly schema: object };
  readonly resource: Resource;
}

/**
 * Whether a response of this status is charged. A 402 of the resource is no usable response, nor is a 304, which has no
 * body and which it was not asked for.
 */
export function isCharged({ chargeOn }: PaidRoute, status: number): boolean {
  return status !== 402 && status !== 304 && status < (chargeOn === '<400' ? 400 : 500);
}

/** Produces the response that a payment buys. */
export interface Resource {
  /** @throws UpstreamError for an upstream that did not respond; any other error also releases the payment */
  produce(request: ResourceRequest): Promise<ProducedAnswer>;
}

export interface ResourceRequest {
  readonly method: string;
  /** The route's pattern with its parameters filled in and percent-encoded: one form for every spelling of the path. */
  readonly path: string;
  /** As the client sent it, without `?`; empty where there is none. */
  readonly query: string;
  /** Decoded; the parameter for `*` is named `*`. No value contains a `.` or `..` segment or a control character. */
  readonly params: Readonly<Record<string, string>>;
  /** The client's headers without the payment headers. Hop-by-hop headers are still included. */
  readonly headers: IncomingHttpHeaders;
  /** Null for GET, and where the client sent none. */
  readonly body: Buffer | null;
  /** Equal in every attempt of one request with one payment; another request with the same payment has another one. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  readonly clientAddress: string;
  /** `txHash` as the payer wrote it; absent while the payment is not settled. */
  readonly verification: { readonly isValid: true; readonly txHash?: string };
  /**
   * Aborted when another holder takes over the payment, since the response could then not be sent. A client that
   * disconnects does not abort it.
   */
  readonly signal: AbortSignal;
}

export interface ProducedAnswer {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: Buffer | Readable;
  /** For metered payments: the charge as the resource reported it. Absent: the maximum is charged. */
  readonly charge?: string;
}

/**
 * Why there is no usable response from an upstream. `refused`: the upstream was never reached. `failed`: it was reached
 * but did not respond. `mischarged`: its response reported an invalid charge. These three release the payment.
 * `unknown`: an unsafe request may have had its effect, so the payment stays with this request until its lease ends.
 */
export type UpstreamFailure = 'refused' | 'failed' | 'mischarged' | 'unknown';

export class UpstreamError extends Error {
  readonly code: `upstream_${UpstreamFailure}`;

  /** `message` is only logged, never sent to the client. `timedOut` responds with 504 instead of 502. */
  constructor(
    readonly kind: UpstreamFailure,
    message: string,
    readonly options: ErrorOptions & { readonly timedOut?: boolean } = {},
  ) {
    super(message, options);
    this.name = 'UpstreamError';
    this.code = `upstream_${kind}`;
  }
}

const PAYMENT_HEADERS = [X_PAYMENT, PAYMENT_SIGNATURE, SIGN_IN_WITH_X, IDEMPOTENCY_KEY].map((name) =>
  name.toLowerCase(),
);

/** The client's headers without those that concern only the client and the gateway. */
export function withoutPayment(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const left = { ...headers };
  for (const name of PAYMENT_HEADERS) Reflect.deleteProperty(left, name);
  const others = headers.authorization === undefined ? null : withoutPaymentCredentials(headers.authorization);
  if (others === null) Reflect.deleteProperty(left, 'authorization');
  else left.authorization = others;
  return left;
}
