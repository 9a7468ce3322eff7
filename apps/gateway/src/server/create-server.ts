import { readFileSync } from 'node:fs';

import { ConfigurationError, handleError, isStopping } from '@tollgate/common';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';

import type { ServerEnvironment } from '../config/server.environment.js';
import { Cors } from './cors.js';
import { closeWhenIdle, endConnectionsWhenStopping } from './drain.js';
import { addGate } from './gate.js';
import { handleClientError } from './handle-client-error.js';
import { openRoutes, type OpenPaths } from './open-routes.js';
import { watchMethods } from './other-methods.js';
import { RateLimit } from './rate-limit.js';
import { createRequestIds } from './request-id.js';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PARAMETER_LENGTH = 1024;

export interface GatewayServer {
  readonly server: FastifyInstance;
  /** Must be called after the last route is registered. */
  readonly completeRoutes: () => void;
  /** Routes without an access rule; complete once all are registered. */
  readonly closedRoutes: readonly string[];
}

/** The HTTP server, with the gate in front of every route that is registered afterwards. */
export function createServer(
  environment: ServerEnvironment,
  openPaths: OpenPaths,
  isEnding: () => boolean = isStopping,
): GatewayServer {
  const server = fastify(createOptions(environment)) as unknown as FastifyInstance;
  endConnectionsWhenStopping(server, isEnding);
  const cors = new Cors(environment.corsOrigins);
  const closedRoutes: string[] = [];
  openRoutes(server, openPaths, (route) => closedRoutes.push(route));
  const { complete } = watchMethods(server, cors);
  addGate(server, {
    cors,
    rateLimit: new RateLimit(environment.rateLimitPerMinute),
    allowInsecureHttp: environment.allowInsecureHttp,
  });
  closeWhenIdle(server, environment.drainMs);
  return { server, completeRoutes: complete, closedRoutes };
}

function createOptions(environment: ServerEnvironment): FastifyServerOptions {
  const { tlsCert, tlsKey, trustProxy } = environment;
  return {
    // All spellings of a path get the same paywall: the router normalises them before the gate looks at the route.
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: MAX_PARAMETER_LENGTH,
    },
    ...(tlsCert === undefined || tlsKey === undefined
      ? {}
      : { https: { cert: readPem('TLS_CERT', tlsCert), key: readPem('TLS_KEY', tlsKey) } }),
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit: environment.maxRequestBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: createRequestIds(),
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    clientErrorHandler: (error, socket) => handleClientError(error, socket),
    // Requests on open connections are served: by then no new connection is accepted.
    return503OnClosing: false,
  };
}

function readPem(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([`${setting}: the file ${path} cannot be read (${code}).`]);
  }
}
