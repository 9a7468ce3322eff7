import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

import { ConfigurationError, handleError } from '@tollgate/common';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';

import type { ServerEnvironment } from '../config/server.environment.js';
import { Cors } from './cors.js';
import { addGate } from './gate.js';
import { handleClientError } from './handle-client-error.js';
import { openRoutes, type OpenPaths } from './open-routes.js';
import { watchMethods } from './other-methods.js';
import { RateLimit } from './rate-limit.js';
import { createRequestIds } from './request-id.js';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PARAMETER_LENGTH = 1024;
const CLOSE_IDLE_EVERY_MS = 50;

export interface GatewayServer {
  readonly server: FastifyInstance;
  /** To be called after the last route was registered. */
  readonly completeRoutes: () => void;
  /** Routes that nothing opened; known once all are registered. */
  readonly closedRoutes: readonly string[];
}

/** The HTTP server, with the gate in front of everything that is registered on it from now on. */
export function createServer(environment: ServerEnvironment, openPaths: OpenPaths): GatewayServer {
  const server = fastify(createOptions(environment)) as unknown as FastifyInstance;
  const cors = new Cors(environment.corsOrigins);
  const closedRoutes: string[] = [];
  openRoutes(server, openPaths, (route) => closedRoutes.push(route));
  const { complete } = watchMethods(server, cors);
  addGate(server, {
    cors,
    rateLimit: new RateLimit(environment.rateLimitPerMinute),
    allowInsecureHttp: environment.allowInsecureHttp,
  });
  closeWhenIdle(server);
  return { server, completeRoutes: complete, closedRoutes };
}

/**
 * Node closes idle connections once, when it stops listening: those that still answer then would stay for their
 * keep-alive. A connection that was opened in advance and never asked for anything it does not even call idle.
 */
function closeWhenIdle(server: FastifyInstance): void {
  const connections = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.addHook('preClose', (done) => {
    const timer = setInterval(() => {
      server.server.closeIdleConnections();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, CLOSE_IDLE_EVERY_MS);
    timer.unref();
    server.server.once('close', () => clearInterval(timer));
    done();
  });
}

function createOptions(environment: ServerEnvironment): FastifyServerOptions {
  const { tlsCert, tlsKey, trustProxy } = environment;
  return {
    // One paywall for every spelling: the router folds them before the gate looks at what it found.
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
    return503OnClosing: true,
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
