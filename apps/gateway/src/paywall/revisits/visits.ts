import { createHash } from 'node:crypto';

import { createSignInMessage, type SignInFailure } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import type { FastifyRequest } from 'fastify';

import { answerForeignChallenge, answerUnavailable, answerUpstreamError, type OrderAnswer } from '../answer/answer.js';
import { keepHeaders } from '../answer/answer-headers.js';
import type { SignInNonces } from '../offer/sign-in-nonces.js';
import { readBody } from '../route/answer-body.js';
import { withoutPayment, type ResourceRequest } from '../route/paid-route.js';
import type { Revisits } from './revisits.js';
import { SignerUnknownError, type SignerAsker, type Signers } from './signers.js';
import { readVisit, type Visit, type VisitParts } from './visit.js';

export interface VisitsParts {
  readonly revisits: Revisits;
  readonly signers: Pick<Signers, 'hasSigned'>;
  readonly nonces: SignInNonces;
  readonly chainId: number;
  readonly reportFailure: (error: unknown, visit: Visit, requestId: string) => void;
}

export type VisitOutcome = Exclude<OrderAnswer, { kind: 'refused' }> | RefusedVisit;

export interface RefusedVisit {
  readonly kind: 'unpaid';
  readonly failure: SignInFailure;
  /** Logged but not sent to the client, which must not learn what others have paid for. */
  readonly cause: SignInFailure | 'signature_invalid';
}

/** Serves a payer that paid for a resource earlier and proves it by its signature, without another payment. */
export class Visits {
  constructor(private readonly parts: VisitsParts) {}

  /** See `readVisit`. */
  read(parts: VisitParts): Visit | SignInFailure | null {
    return readVisit(parts, this.parts);
  }

  /**
   * Never throws. If the payment or the signature cannot be checked, the answer is a 503: neither the resource nor a
   * challenge.
   */
  async serve(visit: Visit, request: FastifyRequest): Promise<VisitOutcome> {
    try {
      const cause = await this.#findFailure(visit, { requestId: request.id, clientAddress: request.ip });
      if (cause === null) return await produce(visit, request);
      return { kind: 'unpaid', failure: cause === 'signature_invalid' ? 'not_paid' : cause, cause };
    } catch (error) {
      this.parts.reportFailure(error, visit, request.id);
      const isUnknown = error instanceof StoreError || error instanceof SignerUnknownError;
      return isUnknown ? answerUnavailable() : answerUpstreamError(error, false);
    }
  }

  /** The most expensive check is last: a signature is only verified if its address has paid. */
  async #findFailure({ signIn, asked, resource }: Visit, asker: SignerAsker): Promise<RefusedVisit['cause'] | null> {
    const { revisits, signers } = this.parts;
    if (!(await revisits.isRemembered(signIn.address, resource))) return 'not_paid';
    const message = createSignInMessage(asked, signIn.address);
    if (!(await signers.hasSigned(message, signIn, asker))) return 'signature_invalid';
    return (await revisits.takeNonce(signIn.nonce)) ? null : 'nonce_used';
  }
}

/** Produces a new response: the payment was for the resource, not for one response. */
async function produce(visit: Visit, request: FastifyRequest): Promise<VisitOutcome> {
  const { status, headers, body } = await visit.endpoint.route.resource.produce(createVisitRequest(visit, request));
  const read = await readBody(body, 0);
  if (status !== 402)
    return { kind: 'resource', origin: 'revisited', status, headers: keepHeaders(headers), body: read };
  if (!Buffer.isBuffer(read)) read.destroy();
  return answerForeignChallenge(false);
}

function createVisitRequest({ resource, signIn }: Visit, request: FastifyRequest): ResourceRequest {
  const name = createHash('sha256').update(signIn.nonce).digest().subarray(0, 16).toString('base64url');
  return {
    ...resource,
    params: request.params as Record<string, string>,
    headers: withoutPayment(request.raw.headers),
    body: null,
    idempotencyKey: `tollgate-visit-${name}`,
    requestId: request.id,
    clientAddress: request.ip,
    verification: { isValid: true },
    signal: new AbortController().signal,
  };
}
