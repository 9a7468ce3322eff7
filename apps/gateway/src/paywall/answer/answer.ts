import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

import { type Problem, sendProblem } from '@tollgate/http';
import { type PaymentFailure, IDEMPOTENT_REPLAYED, keepPrivate, X_PAYMENT_RELEASED } from '@tollgate/protocol';
import type { FastifyReply } from 'fastify';

import { EXPOSE_HEADERS, parseExposed } from '../../server/cors.js';
import { UpstreamError, type ProducedStatus, type Resource, type ResourceRequest } from '../route/paid-route.js';
import { readBody } from '../route/read-body.js';
import { keepHeaders } from './answer-headers.js';

/** The outcome of a request that presented a payment. */
export type OrderAnswer = ResourceAnswer | ProblemAnswer | RefusedAnswer;

/**
 * How a response relates to its payment. `paid`: the payment was just spent on it. `replayed`: the stored response of a
 * payment spent earlier. `reproduced`: produced again for such a payment. `released`: the payment was not charged and
 * may be used again. `revisited`: a payer that paid earlier gets the resource again by signing in.
 */
export type AnswerOrigin = 'paid' | 'replayed' | 'reproduced' | 'released' | 'revisited';

export interface ResourceAnswer extends ProducedStatus {
  readonly kind: 'resource';
  readonly origin: AnswerOrigin;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | Readable;
  /** The transaction of the payment, if known. */
  readonly txHash?: string | undefined;
  /** The amount charged for a metered payment. */
  readonly amountBaseUnits?: string | undefined;
  /** A failure of the resource, after which the client asks again for the answer that its payment has bought. */
  readonly isFailed?: boolean;
}

export interface ProblemAnswer {
  readonly kind: 'problem';
  readonly problem: Problem;
  readonly released: boolean;
  /** The payment has bought an answer, which is gone. */
  readonly isSpent?: true;
}

/** The payment is refused, or could not be settled: the client gets a new challenge, and a produced response is discarded. */
export interface RefusedAnswer {
  readonly kind: 'refused';
  readonly failure: PaymentFailure;
  readonly retryAfterMs?: number | undefined;
  readonly headers: readonly (readonly [string, string])[];
}

/** How often the answer of one payment is produced again. */
export const MAX_REPRODUCTIONS = 5;
const RETRY_SOON_MS = 1_000;
const DETAILS = {
  refused: 'The resource could not be reached.',
  failed: 'The resource did not return a complete response.',
  mischarged: 'The resource reported an invalid charge for its response. Nothing was charged.',
} as const;

function createProblem(problem: Problem, released = false): ProblemAnswer {
  return { kind: 'problem', problem, released };
}

export function answerBusy(retryAfterMs = RETRY_SOON_MS): ProblemAnswer {
  const detail = 'Another request with this payment is in progress. Send the same request again later.';
  return createProblem({ status: 409, code: 'payment_in_progress', detail, retryAfterMs });
}

/** @param released false for a payment that has bought an answer, which is to be produced once more */
export function answerPaused(retryAfterMs: number, released: boolean): ProblemAnswer {
  const detail = 'The resource is busy. Do not pay again: send the same request once the time in Retry-After is over.';
  return createProblem({ status: 503, code: 'upstream_busy', detail, retryAfterMs }, released);
}

export function answerConflict(): ProblemAnswer {
  const detail =
    'This payment belongs to a different request: the method, path, query or body differs. Repeat that request, or pay for this one.';
  return createProblem({ status: 409, code: 'payment_for_other_request', detail });
}

export function answerIdentifierReused(): ProblemAnswer {
  const detail =
    'This payment identifier already belongs to another payment of the same payer. Send that payment again.';
  return createProblem({ status: 409, code: 'payment_identifier_reused', detail });
}

export function answerGone(isRepeatable: boolean): ProblemAnswer {
  const reason = isRepeatable
    ? `It was not stored, and has already been produced again ${MAX_REPRODUCTIONS} times.`
    : 'It was not stored, and repeating the request could have side effects.';
  const detail = `This payment was spent and its answer is no longer available. ${reason}`;
  return { ...createProblem({ status: 410, code: 'answer_gone', detail }), isSpent: true };
}

/** Never a 402: the client would pay a second time because of a fault on our side. */
export function answerUnavailable(retryAfterMs = RETRY_SOON_MS): ProblemAnswer {
  const detail = 'The payment cannot be verified now. Do not pay again: send the same request later.';
  return createProblem({ status: 503, code: 'verification_unavailable', detail, retryAfterMs });
}

/** The chain has yet to mine or confirm the payer's transaction: a client that is asked to pay again would pay twice. */
export function answerUnconfirmed(retryAfterMs = RETRY_SOON_MS): ProblemAnswer {
  const detail = 'The chain has not confirmed the transaction yet. Do not pay again: send the same request later.';
  return createProblem({ status: 503, code: 'transaction_pending', detail, retryAfterMs });
}

/** The payer has moved the money, and MPP has no signature for it: a client that gets a challenge would pay again. */
export function answerUnbound(): ProblemAnswer {
  const detail =
    'The transaction is not bound to its challenge: it has no hash lock, and an MPP credential has no signature. Do not pay again: send the hash in X-Payment, with the id of the challenge as payload.reference and your signature as payload.signature.';
  return createProblem({ status: 403, code: 'transaction_unbound', detail });
}

/** The payment may already have been settled: a client that is asked to pay again would pay twice. */
export function answerSettling(): ProblemAnswer {
  const detail = 'The payment is being settled. Do not pay again: send the same request later to get its answer.';
  return createProblem({ status: 503, code: 'settlement_pending', detail, retryAfterMs: RETRY_SOON_MS });
}

/** The resource itself answered 402. Passed on, it would look like a challenge from this gateway. */
export function answerForeignChallenge(released: boolean): ProblemAnswer {
  const detail = 'The resource behind this gateway itself answered 402 Payment Required.';
  return createProblem({ status: 502, code: 'upstream_failed', detail }, released);
}

export function answerUpstreamError(error: unknown, released: boolean): ProblemAnswer {
  if (!(error instanceof UpstreamError)) {
    const detail = 'The resource could not be produced.';
    return createProblem({ status: 500, code: 'resource_failed', detail }, released);
  }
  const { kind, code, options } = error;
  if (kind === 'unknown') {
    const detail =
      'The resource did not respond in time, and may or may not have acted. Send the same request again later.';
    return createProblem({ status: 504, code, detail, retryAfterMs: RETRY_SOON_MS });
  }
  return createProblem({ status: options.timedOut === true ? 504 : 502, code, detail: DETAILS[kind] }, released);
}

/** Has the resource respond again to a payer that was charged before. A 402 of its own is not passed on. */
export async function produceAgain(
  resource: Resource,
  request: ResourceRequest,
  origin: 'reproduced' | 'revisited',
): Promise<ResourceAnswer | ProblemAnswer> {
  const produced = await resource.produce(request);
  const body = await readBody(produced.body, 0);
  const { status, isMoved = false } = produced;
  if (status !== 402)
    return { kind: 'resource', origin, status, isMoved, headers: keepHeaders(produced.headers, body), body };
  if (!Buffer.isBuffer(body)) body.destroy();
  return answerForeignChallenge(false);
}

/** Sends an answer to the client. Its payment is already committed or released. */
export function sendAnswer(reply: FastifyReply, answer: ResourceAnswer | ProblemAnswer): FastifyReply {
  if (answer.kind === 'problem') {
    if (answer.released) void reply.header(X_PAYMENT_RELEASED, 'true');
    // By this header a client tells it from a failure after which its payment is still good.
    if (answer.isSpent) void reply.header(IDEMPOTENT_REPLAYED, 'true');
    return sendProblem(reply, answer.problem);
  }
  const { origin, status, headers, body, isFailed = false } = answer;
  void reply.code(status);
  for (const [name, value] of headers) {
    // Fastify appends only cookies; every other repeated header is joined as RFC 9110, 5.3 allows.
    const earlier = name.toLowerCase() === 'set-cookie' ? undefined : reply.getHeader(name);
    const isExposing = name.toLowerCase() === EXPOSE_HEADERS;
    // What is exposed is added for a page that may read the answer.
    if (isExposing && earlier === undefined) continue;
    const values = isExposing ? parseExposed(value) : [value];
    if (earlier !== undefined) values.unshift(String(earlier));
    void reply.header(name, values.join(', '));
  }
  const isAgain = origin === 'replayed' || origin === 'reproduced';
  if (isAgain && !isFailed) void reply.header(IDEMPOTENT_REPLAYED, 'true');
  if (origin === 'released') void reply.header(X_PAYMENT_RELEASED, 'true');
  const cacheControl = reply.getHeader('cache-control')?.toString();
  if (!Buffer.isBuffer(body)) endWithClient(body, reply.raw.socket);
  return reply
    .header('Cache-Control', origin === 'released' || isFailed ? 'no-store' : keepPrivate(cacheControl))
    .header('X-Request-Id', reply.request.id)
    .send(withoutDefaultType(reply, body));
}

/** Fastify declares bytes without a type to be `application/octet-stream`, but streams not. */
function withoutDefaultType(reply: FastifyReply, body: Buffer | Readable): Buffer | Readable | undefined {
  if (reply.hasHeader('content-type')) return body;
  void reply.header('X-Content-Type-Options', 'nosniff');
  if (!Buffer.isBuffer(body)) return body;
  if (body.length === 0) return undefined;
  void reply.header('Content-Length', body.length);
  return Readable.from([body]);
}

/**
 * Ends a stream when its client closes its side of the connection, so that the upstream stops working. A client
 * that had closed its side before the stream began is still sent the stream.
 */
function endWithClient(body: Readable, socket: Socket | null): void {
  const leave = () => void socket?.destroy();
  socket?.once('end', leave);
  body.once('close', () => socket?.off('end', leave));
}
