import type { FastifyReply, FastifyRequest } from 'fastify';

import type { PaidEndpoint } from './paid-endpoint.js';
import type { RequestFacts } from './paywall-log.js';

/** A request for a paid route, with the spelling of its path that every spelling comes to. */
export interface RoutedRequest {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What the log says of any request. */
export function factsOf(request: FastifyRequest, path: string): RequestFacts {
  return { requestId: request.id, method: request.method, path, clientAddress: request.ip };
}
