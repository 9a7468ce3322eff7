import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import { isStopping } from '@tollgate/common';
import { readSettingFile } from '@tollgate/config';
import { arriveWithin, closeWhenIdle, handleError, RateLimit } from '@tollgate/http';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';

import type { ServerEnvironment } from '../config/server.environment.js';
import { MAX_PATH_BYTES } from '../paywall/route/paid-path.js';
import { addAdmission, openRoutes, type OpenPaths } from './admission.js';
import { Cors } from './cors.js';
import { endConnectionsWhenStopping, sparedMs } from './drain.js';
import { watchMethods } from './other-methods.js';

/** Of a body of `MAX_REQUEST_BODY_BYTES` over a slow line. */
const ARRIVES_WITHIN_MS = 60_000;

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
  keepHalfClosed(server.server);
  endConnectionsWhenStopping(server, isEnding);
  const cors = new Cors(environment.corsOrigins);
  const closedRoutes: string[] = [];
  openRoutes(server, openPaths, (route) => closedRoutes.push(route));
  const { complete } = watchMethods(server, cors);
  addAdmission(server, {
    cors,
    rateLimit: new RateLimit(environment.rateLimitPerMinute),
    allowInsecureHttp: environment.allowInsecureHttp,
  });
  closeWhenIdle(server, sparedMs(environment.drainMs));
  return { server, completeRoutes: complete, closedRoutes };
}

/**
 * A client may close its side once it has sent its requests: it still gets the answers. Of a TLS connection only after
 * its handshake, since nothing else would end one that the client gives up before.
 */
function keepHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('secureConnection', (socket: Socket) => (socket.allowHalfOpen = true));
}

function createOptions(environment: ServerEnvironment): FastifyServerOptions {
  const { tlsCert, tlsKey, proxies } = environment;
  return {
    // All spellings of a path get the same paywall: the router normalises them before the gate looks at the route.
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: MAX_PATH_BYTES,
    },
    ...(tlsCert === undefined || tlsKey === undefined
      ? {}
      : { https: { cert: readSettingFile('TLS_CERT', tlsCert), key: readSettingFile('TLS_KEY', tlsKey) } }),
    trustProxy: proxies.trusted,
    bodyLimit: environment.maxRequestBodyBytes,
    ...arriveWithin(ARRIVES_WITHIN_MS),
    genReqId: createRequestIds(),
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    // Requests on open connections are served: by then no new connection is accepted.
    return503OnClosing: false,
  };
}

const SANE = /^[A-Za-z0-9._:@+/=-]{1,128}$/;

/** The client's `X-Request-Id` if it is harmless in a log and a header, otherwise a new id. */
function createRequestIds(): (request: Pick<IncomingMessage, 'headers'>) => string {
  // A random prefix per process and a counter: unique across replicas without a system call for each request.
  const prefix = `${randomBytes(6).toString('hex')}-`;
  let count = 0;
  return ({ headers }) => {
    const presented = headers['x-request-id'];
    if (presented !== undefined && SANE.test(presented as string)) return presented as string;
    count += 1;
    return prefix + count.toString(36);
  };
}
