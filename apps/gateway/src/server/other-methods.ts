import { sendProblem } from '@tollgate/http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

import type { Cors } from './cors.js';
import { setHeaders } from './set-headers.js';

/**
 * Answers the other methods of known paths: 405 with `Allow`, and OPTIONS (preflights included) for every client. It
 * records the routes registered from now on; `complete` adds the missing methods, after the last route and before the
 * first request.
 */
export function watchMethods(server: FastifyInstance, cors: Cors): { complete: () => void } {
  const methodsByPath = new Map<string, Set<string>>();
  let isCompleting = false;
  server.addHook('onRoute', (route: RouteOptions) => {
    if (isCompleting) return;
    const methods = methodsByPath.get(route.url) ?? new Set();
    methodsByPath.set(route.url, methods);
    for (const method of [route.method].flat()) methods.add(method);
  });
  return {
    complete: () => {
      isCompleting = true;
      for (const [url, methods] of methodsByPath) addMissing(server, cors, url, methods);
    },
  };
}

function addMissing(server: FastifyInstance, cors: Cors, url: string, methods: ReadonlySet<string>): void {
  if (methods.has('OPTIONS')) return;
  const allow = [...methods, 'OPTIONS'].join(', ');
  const missing = server.supportedMethods.filter((method) => !methods.has(method) && method !== 'OPTIONS');
  const config = { access: 'free' } as const;
  const options = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    answerOptions(request, reply, cors, allow);
  server.route({ method: 'OPTIONS', url, config, handler: options });
  const refuse = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendProblem(reply, {
      status: 405,
      code: 'method_not_allowed',
      detail: `This path answers ${allow}.`,
      headers: { Allow: allow },
    });
  // Answers in onRequest, before a body is read or refused for its type.
  server.route({
    method: missing,
    url,
    config,
    onRequest: (request, reply) => void refuse(request, reply),
    handler: refuse,
  });
}

function answerOptions(request: FastifyRequest, reply: FastifyReply, cors: Cors, allow: string): FastifyReply {
  const { origin } = request.raw.headers;
  const requestedHeaders = request.raw.headers['access-control-request-headers'];
  if (origin !== undefined && request.raw.headers['access-control-request-method'] !== undefined) {
    setHeaders(reply, cors.preflightHeadersFor(origin, allow, requestedHeaders));
  }
  return reply.code(204).header('Allow', allow).send();
}
