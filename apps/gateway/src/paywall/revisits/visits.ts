import { createHash } from 'node:crypto';

import { readPaymentName, type Ledger } from '@tollgate/ledger';
import {
  createSignInMessage,
  type SignInFailure,
  caip2Of,
  parseSignIn,
  PaymentError,
  SIGN_IN_WITH_X,
  type SignIn,
  type SignInTerms,
} from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import type { FastifyRequest } from 'fastify';

import { answerUnavailable, answerUpstreamError, type OrderAnswer, produceAgain } from '../answer/answer.js';
import type { PaidEndpoint } from '../offer/paid-endpoint.js';
import type { PublicOrigin } from '../offer/public-origin.js';
import { type SignInNonces, expirationOf } from '../offer/sign-in-nonces.js';
import { fingerprintOf, readQuery } from '../present/purchase.js';
import type { SentPath } from '../route/paid-path.js';
import { withoutPayment, type ResourceRequest } from '../route/paid-route.js';
import type { Revisits } from './revisits.js';
import { SignerUnknownError, type SignerAsker, type Signers } from './signers.js';

/**
 * A request of a client that claims to have paid earlier. Its sign-in answers a challenge of this gateway; signature
 * and payment are not verified yet.
 */
export interface Visit {
  readonly endpoint: PaidEndpoint;
  readonly resource: Pick<ResourceRequest, 'method' | 'path' | 'sent' | 'query'>;
  readonly signIn: SignIn;
  /** The terms that the client must have signed. */
  readonly asked: SignInTerms;
}

export interface VisitParts {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly sent: SentPath;
  readonly origin: PublicOrigin;
  readonly request: FastifyRequest;
}

const FIELD = SIGN_IN_WITH_X.toLowerCase();

export interface VisitsParts {
  readonly revisits: Revisits;
  readonly ledger: Pick<Ledger, 'isClosed'>;
  readonly signers: Pick<Signers, 'findSigner'>;
  readonly nonces: SignInNonces;
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

  /** The sign-in of a request for a route that may be revisited; null if there is none. Calls no other service. */
  read({ endpoint, path, sent, origin, request }: VisitParts): Visit | SignInFailure | null {
    const { nonces } = this.parts;
    const header = request.raw.headers[FIELD];
    if (typeof header !== 'string') return null;
    const signIn = readSignIn(header);
    if (signIn === null) return 'malformed_sign_in';
    const { nonce, issuedAt } = signIn;
    const expected = { domain: origin.host, uri: origin.url + path, network: signIn.network };
    if (signIn.domain !== expected.domain) return 'domain_mismatch';
    if (signIn.uri !== expected.uri) return 'uri_mismatch';
    if (!endpoint.chainIds.some((chainId) => caip2Of(chainId) === signIn.network)) return 'chain_mismatch';
    if (!nonces.isOwn(nonce, expected.uri, issuedAt)) return 'nonce_unknown';
    const asked = { ...expected, nonce, issuedAt, expirationTime: expirationOf(issuedAt) };
    if (Date.parse(asked.expirationTime) < Date.now()) return 'sign_in_expired';
    const resource = { method: request.method, path, sent, query: readQuery(request.raw.url ?? '') };
    return { endpoint, resource, signIn, asked };
  }

  /**
   * Never throws. If the payment or the signature cannot be checked, the answer is a 503: neither the resource nor a
   * challenge.
   */
  async serve(visit: Visit, request: FastifyRequest, body: Buffer | null): Promise<VisitOutcome> {
    try {
      const { route } = visit.endpoint;
      const fingerprint = fingerprintOf(visit.resource, { route, headers: request.raw.headers, body });
      const cause = await this.#findFailure(visit, fingerprint, { requestId: request.id, clientAddress: request.ip });
      // A new response: the payment was for the resource, not for one response.
      if (cause === null) {
        return await produceAgain(route.resource, createVisitRequest(visit, request, body), 'revisited');
      }
      return { kind: 'unpaid', failure: cause === 'signature_invalid' ? 'not_paid' : cause, cause };
    } catch (error) {
      this.parts.reportFailure(error, visit, request.id);
      const isUnknown = error instanceof StoreError || error instanceof SignerUnknownError;
      return isUnknown ? answerUnavailable() : answerUpstreamError(error, false);
    }
  }

  /** The most expensive check is last: a signature is only verified if its address has paid. */
  async #findFailure(
    { signIn, asked }: Visit,
    fingerprint: string,
    asker: SignerAsker,
  ): Promise<RefusedVisit['cause'] | null> {
    const { revisits, ledger, signers } = this.parts;
    const payments = await revisits.findPayments(signIn.address, fingerprint);
    // A refund takes the right to come back with it.
    const ids = payments.flatMap((payment) => readPaymentName(payment) ?? []);
    const closed = await Promise.all(ids.map((id) => ledger.isClosed(id)));
    const valid = ids.filter((_, index) => !closed[index]);
    if (valid.length === 0) return 'not_paid';
    const message = createSignInMessage(asked, signIn.address);
    const signer = await signers.findSigner(message, signIn, asker);
    if (signer === null) return 'signature_invalid';
    // An address may be another's contract on another chain.
    const isPayer = signer === 'account' || valid.some(({ chainId }) => caip2Of(chainId) === signIn.network);
    if (!isPayer) return 'not_paid';
    return (await revisits.takeNonce(signIn.nonce)) ? null : 'nonce_used';
  }
}

function createVisitRequest(
  { resource, signIn }: Visit,
  request: FastifyRequest,
  body: Buffer | null,
): ResourceRequest {
  const name = createHash('sha256').update(signIn.nonce).digest().subarray(0, 16).toString('base64url');
  return {
    ...resource,
    headers: withoutPayment(request.raw),
    body,
    idempotencyKey: `tollgate-visit-${name}`,
    requestId: request.id,
    clientAddress: request.ip,
    verification: { isValid: true },
    signal: new AbortController().signal,
  };
}

function readSignIn(header: string): SignIn | null {
  try {
    return parseSignIn(header);
  } catch (error) {
    if (error instanceof PaymentError) return null;
    throw error;
  }
}
