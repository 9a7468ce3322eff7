import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { BUSY_STATUSES } from '@tollgate/middleware/purchase';
import {
  IDEMPOTENCY_KEY,
  PAYMENT_AUTHORIZATION,
  PAYMENT_SIGNATURE,
  SIGN_IN_WITH_X,
  withoutPaymentCredentials,
  X_PAYMENT,
} from '@tollgate/protocol';

import { headerLines } from './header-lines.js';
import type { SentPath } from './paid-path.js';

/** Injection token of the `readonly PaidRoute[]` that the paywall serves. */
export const PAID_ROUTES = Symbol('PAID_ROUTES');

/** A path that is served in exchange for a payment. */
export interface PaidRoute {
  /**
   * For example `/api/weather`, `/v1/quotes/:symbol`, `/files/*`. A parameter is a whole segment; `*` is only allowed
   * at the end.
   */
  readonly path: string;
  /** In capitals. HEAD and OPTIONS are never listed: HEAD always gets the head of a 402, OPTIONS is free. */
  readonly methods: readonly string[];
  /** In the seller's unit, as a decimal number; `priceOf` says what that is in an option. */
  readonly price: string;
  /** The entries of the payments file that it may be paid in; absent: all of them. */
  readonly accepts?: readonly string[];
  /** The account that is paid, of those that these entries list; absent: the first of each. */
  readonly payTo?: string;
  /** Whether payers may sign for the price as a maximum and are charged what the response costs. */
  readonly isMetered?: boolean;
  /** Whether the resource gets the client's own `Authorization`, so that a payment has to stand elsewhere. */
  readonly passCredentials?: boolean;
  /** For how many seconds a payer may get the same resource again by signing in; 0 or absent: never. */
  readonly revisitSeconds?: number;
  readonly description: string;
  readonly mimeType: string;
  /** `stored`: kept with the payment and replayed on a retry. `streamed`: committed at its first byte. */
  readonly answer: 'stored' | 'streamed';
  /** Which response statuses are charged; any other releases the payment. */
  readonly chargeOn: '<400' | '<500';
  /**
   * When a signed payment is settled. `after`: once the resource has responded (in full, or with the first byte of a
   * stream), so that no payer pays for a failure. `before`: first, so that the resource does no work for a payment that
   * fails.
   */
  readonly settle: 'after' | 'before';
  /** Milliseconds that the resource may take to respond: in full, or of a stream to its first byte. Absent: none. */
  readonly timeLimitMs?: number;
  /** Overrides MAX_REQUEST_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** Schema of the response body, for the OpenAPI document. */
  readonly answerSchema?: { readonly name: string; readonly schema: object };
  readonly resource: Resource;
}

/** A 402 of the resource is no usable response, nor is a 304, which has no body and which it was not asked for. */
const NEVER_CHARGED = [304, 402, ...BUSY_STATUSES];

/** Whether a response of this status is charged. */
export function isCharged({ chargeOn }: PaidRoute, { status, isMoved }: ProducedStatus): boolean {
  return isMoved !== true && !NEVER_CHARGED.includes(status) && status < (chargeOn === '<400' ? 400 : 500);
}

export interface ProducedStatus {
  readonly status: number;
  /** It only says where at this gateway the answer is. */
  readonly isMoved?: boolean;
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
  /** The path that an upstream is asked for. No parameter could be read as another path. */
  readonly sent: SentPath;
  /** As the client sent it, without `?`; empty where there is none. */
  readonly query: string;
  /** The client's headers without the payment headers. Hop-by-hop headers are still included. */
  readonly headers: IncomingHttpHeaders;
  /** Null where the client sent none, or an empty one. */
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

export interface ProducedAnswer extends ProducedStatus {
  readonly headers: readonly (readonly [string, string])[];
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

const PAYMENT_HEADERS = [
  ...[X_PAYMENT, PAYMENT_SIGNATURE, PAYMENT_AUTHORIZATION, SIGN_IN_WITH_X, IDEMPOTENCY_KEY].map((name) =>
    name.toLowerCase(),
  ),
  'authorization',
];

/** The client's headers without those that concern only the client and the gateway. */
export function withoutPayment(request: IncomingMessage): IncomingHttpHeaders {
  const left = { ...request.headers };
  for (const name of PAYMENT_HEADERS) Reflect.deleteProperty(left, name);
  const others = headerLines(request, 'authorization').flatMap((line) => withoutPaymentCredentials(line) ?? []);
  if (others.length > 0) left.authorization = others.join(', ');
  return left;
}
