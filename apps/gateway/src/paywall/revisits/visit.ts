import {
  caip2Of,
  parseSignIn,
  PaymentError,
  SIGN_IN_WITH_X,
  type SignIn,
  type SignInFailure,
  type SignInTerms,
} from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

import type { PaidEndpoint } from '../offer/paid-endpoint.js';
import type { PublicOrigin } from '../offer/public-origin.js';
import { expirationOf, type SignInNonces } from '../offer/sign-in-nonces.js';
import { readQuery } from '../present/purchase.js';
import type { RevisitedResource } from './revisits.js';

/**
 * A request of a client that claims to have paid earlier. Its sign-in answers a challenge of this gateway; signature
 * and payment are not verified yet.
 */
export interface Visit {
  readonly endpoint: PaidEndpoint;
  readonly resource: RevisitedResource;
  readonly signIn: SignIn;
  /** The terms that the client must have signed. */
  readonly asked: SignInTerms;
}

export interface VisitParts {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly origin: PublicOrigin;
  readonly request: FastifyRequest;
}

export interface VisitTerms {
  readonly nonces: SignInNonces;
  readonly chainId: number;
}

const FIELD = SIGN_IN_WITH_X.toLowerCase();

/** Reads the sign-in of a request for a route that may be revisited; null if there is none. Calls no other service. */
export function readVisit(parts: VisitParts, terms: VisitTerms): Visit | SignInFailure | null {
  const { endpoint, path, origin, request } = parts;
  const header = request.raw.headers[FIELD];
  if (typeof header !== 'string') return null;
  const signIn = readSignIn(header);
  if (signIn === null) return 'malformed_sign_in';
  const { nonce, issuedAt } = signIn;
  const expected = { domain: origin.host, uri: origin.url + path, network: caip2Of(terms.chainId) };
  if (signIn.domain !== expected.domain) return 'domain_mismatch';
  if (signIn.uri !== expected.uri) return 'uri_mismatch';
  if (signIn.network !== expected.network) return 'chain_mismatch';
  if (!terms.nonces.isOwn(nonce, expected.uri, issuedAt)) return 'nonce_unknown';
  const asked = { ...expected, nonce, issuedAt, expirationTime: expirationOf(issuedAt) };
  if (Date.parse(asked.expirationTime) < Date.now()) return 'sign_in_expired';
  const resource = { method: request.method, path, query: readQuery(request.raw.url ?? '') };
  return { endpoint, resource, signIn, asked };
}

function readSignIn(header: string): SignIn | null {
  try {
    return parseSignIn(header);
  } catch (error) {
    if (error instanceof PaymentError) return null;
    throw error;
  }
}
