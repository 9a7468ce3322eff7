import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** Injection token of the `readonly PaidRoute[]` that the paywall serves. */
export const PAID_ROUTES = Symbol('PAID_ROUTES');

/** A path that is served for a payment. */
export interface PaidRoute {
  /** `/api/weather`, `/v1/quotes/:symbol`, `/files/*`: a parameter is a whole segment, `*` stands last. */
  readonly path: string;
  /** In capitals. HEAD and OPTIONS are never listed: HEAD is always a 402 without body, OPTIONS is free. */
  readonly methods: readonly string[];
  readonly priceBaseUnits: bigint;
  /** Whether payers may sign for the price as a maximum, and are charged what the answer says it came to. */
  readonly isMetered?: boolean;
  /** How long who has paid may have the same resource again for his signature alone; 0 or absent: not at all. */
  readonly revisitSeconds?: number;
  readonly description: string;
  readonly mimeType: string;
  /** `stored`: kept with the payment and given again on a retry; `streamed`: committed at its first byte. */
  readonly answer: 'stored' | 'streamed';
  /** Which statuses of the resource cost the payment; any other one releases it. */
  readonly chargeOn: '<400' | '<500';
  /**
   * When a signed payment is moved. `after`: when the resource has answered, so that nobody pays for a failure; `before`:
   * first, so that the resource does no work for a payment that fails. A streamed answer is always settled before.
   */
  readonly settle: 'after' | 'before';
  /** In place of MAX_REQUEST_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** Of the body of the answer, for the OpenAPI document. */
  readonly answerSchema?: { readonly name: string; readonly schema: object };
  readonly resource: Resource;
}

/** Makes the answer a payment buys. */
export interface Resource {
  /**
   * @throws UpstreamError for an upstream that gave no answer. Anything else that is thrown also releases the payment.
   */
  produce(request: ResourceRequest): Promise<ProducedAnswer>;
}

export interface ResourceRequest {
  readonly method: string;
  /** The pattern with its parameters filled in and percent-encoded: one spelling for every way to write the path. */
  readonly path: string;
  /** As the client wrote it, without `?`; empty where there is none. */
  readonly query: string;
  /** Decoded; the parameter of `*` is called `*`. None has a `.` or `..` segment or a control character. */
  readonly params: Readonly<Record<string, string>>;
  /** The client's headers without those of the payment. Hop-by-hop headers are still there. */
  readonly headers: IncomingHttpHeaders;
  /** Null for GET, and where the client sent none. */
  readonly body: Buffer | null;
  /** The same for every attempt with the same payment, so that an upstream can tell a repeat. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  readonly clientAddress: string;
  /** `txHash` as the payer spelled it; absent where the payment is not settled yet. */
  readonly verification: { readonly isValid: true; readonly txHash?: string };
  /** Aborted when another holder took the payment over: the answer could not be given. A client that left is no reason. */
  readonly signal: AbortSignal;
}

export interface ProducedAnswer {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: Buffer | Readable;
  /** What it came to, as the resource wrote it: for metered payments. Absent: the maximum. */
  readonly charge?: string;
}

/**
 * What happened to a request that an upstream did not answer. `refused`: it was never reached; `failed`: it was reached
 * and there is no answer; `mischarged`: its answer came to what cannot be charged; all release the payment. `unknown`: an
 * unsafe request may have had its effect, so the payment stays with this request until its lease ends.
 */
export type UpstreamFailure = 'refused' | 'failed' | 'mischarged' | 'unknown';

export class UpstreamError extends Error {
  readonly code: `upstream_${UpstreamFailure}`;

  /** `message` reaches the log, not the client. `timedOut` answers 504 where it would be 502. */
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
