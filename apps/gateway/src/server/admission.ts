import { type Problem, type RateLimit, sendProblem, problemOf } from '@tollgate/http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import ipaddr from 'ipaddr.js';

import type { Cors } from './cors.js';
import { setHeaders } from './set-headers.js';

/** Decides on the requests of a route: passes them on, or answers them itself. */
export interface RouteAccess {
  /** The largest body in bytes, where it is not the server's limit. */
  readonly bodyLimit?: number;
  admit(request: FastifyRequest, reply: FastifyReply, pass: () => void): void;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route without this is never served. */
    access?: 'free' | RouteAccess;
    /** Also served over plain HTTP and without rate limit: for monitoring and orchestration. */
    isOperational?: boolean;
  }
}

export interface AdmissionParts {
  readonly cors: Cors;
  readonly rateLimit: RateLimit;
  readonly allowInsecureHttp: boolean;
}

const INSECURE: Problem = {
  status: 426,
  code: 'https_required',
  detail: 'Payments are credentials: use HTTPS.',
  headers: { Upgrade: 'TLS/1.2, HTTP/1.1', Connection: 'Upgrade' },
};
const DENIED: Problem = { status: 403, code: 'route_closed', detail: 'This route is not open to clients.' };

/**
 * The first hook of every request. It runs after routing and decides by the matched route, never by the URL: the
 * spelling of a path cannot change which rule applies.
 */
export function addAdmission(server: FastifyInstance, { cors, rateLimit, allowInsecureHttp }: AdmissionParts): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { access, isOperational } = request.routeOptions.config;
    const { headers } = request.raw;
    if (headers.origin !== undefined) setHeaders(reply, cors.headersFor(headers.origin, headers.cookie !== undefined));
    if (typeof access !== 'object' || headers['x-request-id'] !== undefined) {
      void reply.header('X-Request-Id', request.id);
    }
    if (isOperational !== true) {
      if (!allowInsecureHttp && request.protocol !== 'https' && !isLoopback(request.ip)) {
        sendProblem(reply, INSECURE);
        return;
      }
      const waitMs = rateLimit.take(request.ip);
      if (waitMs > 0) {
        sendProblem(reply, { ...problemOf(429), retryAfterMs: waitMs });
        return;
      }
    }
    if (typeof access === 'object') access.admit(request, reply, done);
    else if (access === 'free' || request.is404) done();
    else sendProblem(reply, DENIED);
  });
}

/** Paths that are served without payment; `/docs/*` includes everything below. */
export interface OpenPaths {
  readonly free: readonly string[];
  /** Free, and served over plain HTTP and without rate limit: for monitoring and orchestration. */
  readonly operational: readonly string[];
  /** Paths of pages whose routes cannot set their admission themselves. */
  readonly guarded: readonly { readonly paths: readonly string[]; readonly access: RouteAccess }[];
}

/**
 * Opens the listed routes as they are registered. Calls `onClosed` for routes without an access rule: they are
 * registered, but the gate passes no request to them.
 */
export function openRoutes(server: FastifyInstance, paths: OpenPaths, onClosed: (route: string) => void): void {
  server.addHook('onRoute', (route: RouteOptions) => {
    const guard = paths.guarded.find((one) => matches(one.paths, route.url));
    if (matches(paths.operational, route.url)) route.config = { ...route.config, access: 'free', isOperational: true };
    else if (route.config?.access === undefined) {
      if (matches(paths.free, route.url)) route.config = { ...route.config, access: 'free' };
      else if (guard !== undefined) route.config = { ...route.config, access: guard.access };
      else onClosed(`${[route.method].flat().join(', ')} ${route.url}`);
    }
    const access = route.config?.access;
    if (typeof access === 'object' && access.bodyLimit !== undefined) route.bodyLimit = access.bodyLimit;
  });
}

function matches(paths: readonly string[], url: string): boolean {
  return paths.some((path) => (path.endsWith('/*') ? url.startsWith(path.slice(0, -1)) : url === path));
}

/** Whether an address is this machine's own, so that no third party can read the traffic. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === '127.0.0.1' || address === '::1') return true;
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
