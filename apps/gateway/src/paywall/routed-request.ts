import type { FastifyReply, FastifyRequest } from 'fastify';

import type { PaidEndpoint } from './paid-endpoint.js';
import type { RequestFacts } from './paywall-log.js';

/** A request for a paid route, with its path in canonical form. */
export interface RoutedRequest {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The facts that are logged of any request. */
export function factsOf(request: FastifyRequest, path: string): RequestFacts {
  return { requestId: request.id, method: request.method, path, clientAddress: request.ip };
}
