import { createFingerprint, hashRetryKey } from '@tollgate/ledger';
import {
  parseProof,
  PaymentError,
  PAYMENT_FAILURES,
  X_PAYMENT,
  type PaymentFailure,
  type PaymentProof,
} from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

import type { AuthenticReference, Challenges } from './challenges.js';
import type { PaidEndpoint } from './paid-endpoint.js';

/** A request for a paid route whose proof is well formed; whether it pays is the verifier's to say. */
export interface Purchase {
  readonly endpoint: PaidEndpoint;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly proof: PaymentProof;
  readonly reference: AuthenticReference | null;
  /** Hash of the Idempotency-Key, and of the reference where the proof has one; null without a key. */
  readonly retryKey: string | null;
  readonly startedAtMs: number;
}

const X_PAYMENT_FIELD = X_PAYMENT.toLowerCase();

/** Undefined where the client sent none. Node joins a repeated header with commas, which no base64 has. */
export function readProofHeader(request: FastifyRequest): string | undefined {
  return request.raw.headers[X_PAYMENT_FIELD] as string | undefined;
}

/** @throws PaymentError with one of PAYMENT_FAILURES as its code */
export function parsePurchase(
  { request, endpoint, path, idempotencyKey }: PurchaseParts,
  { challenges, network }: { challenges: Challenges; network: string },
): Purchase {
  const { method } = request;
  const proof = parseProof(readProofHeader(request) ?? '', { network });
  const text = proof.payload.reference;
  const reference = text === undefined ? null : challenges.authenticate(endpoint, method, path, text);
  if (text !== undefined && reference === null) {
    throw new PaymentError('unknown_reference', 'The reference was not given out here for this request.');
  }
  const retryKey = idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey, reference);
  const query = readQuery(request.raw.url ?? '');
  return { endpoint, method, path, query, proof, reference, retryKey, startedAtMs: performance.now() };
}

/** With the reference, which only the payer knows: a key such as `1` is guessed, and the hash of a transaction public. */
function hashIdempotencyKey(idempotencyKey: string, reference: AuthenticReference | null): string {
  return hashRetryKey(reference === null ? idempotencyKey : `${reference.text}\n${idempotencyKey}`);
}

export interface PurchaseParts {
  readonly request: FastifyRequest;
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

export function fingerprintOf({ method, path, query }: Purchase, body: Buffer | null): string {
  return createFingerprint({ method, path, query, ...(body === null ? {} : { body }) });
}

/** The key under which a repeat of this purchase finds its answer; null where a repeat cannot be told from a thief. */
export function retryKeyOf({ retryKey, reference }: Purchase): string | null {
  return retryKey ?? (reference === null ? null : hashRetryKey(reference.text));
}

export function isPaymentFailure(code: string): code is PaymentFailure {
  return (PAYMENT_FAILURES as readonly string[]).includes(code);
}

/** As written, without the question mark; a fragment, which no client should send, is no part of it. */
function readQuery(url: string): string {
  const hashAt = url.indexOf('#');
  const target = hashAt === -1 ? url : url.slice(0, hashAt);
  const questionAt = target.indexOf('?');
  return questionAt === -1 ? '' : target.slice(questionAt + 1);
}
