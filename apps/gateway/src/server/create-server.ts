import { randomBytes } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import {
  closeWhenIdle,
  handleError,
  isStopping,
  PROBLEM_JSON,
  problemOf,
  RateLimit,
  readSettingFile,
  renderProblem,
} from '@tollgate/common';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';

import type { ServerEnvironment } from '../config/server.environment.js';
import { addAdmission, openRoutes, type OpenPaths } from './admission.js';
import { Cors } from './cors.js';
import { endConnectionsWhenStopping, sparedMs } from './drain.js';
import { watchMethods } from './other-methods.js';

const REQUEST_TIMEOUT_MS = 60_000;
const MAX_PARAMETER_LENGTH = 1024;
/** How long a client whose bytes were refused may take to read the answer, and to stop sending. */
const REFUSED_CLOSES_WITHIN_MS = 1_000;

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
  addAdmission(server, {
    cors,
    rateLimit: new RateLimit(environment.rateLimitPerMinute),
    allowInsecureHttp: environment.allowInsecureHttp,
  });
  closeWhenIdle(server, sparedMs(environment.drainMs));
  return { server, completeRoutes: complete, closedRoutes };
}

function createOptions(environment: ServerEnvironment): FastifyServerOptions {
  const { tlsCert, tlsKey, proxies } = environment;
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
      : { https: { cert: readSettingFile('TLS_CERT', tlsCert), key: readSettingFile('TLS_KEY', tlsKey) } }),
    trustProxy: proxies.trusted,
    bodyLimit: environment.maxRequestBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: createRequestIds(),
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    clientErrorHandler: (error, socket) => handleClientError(error, socket),
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

const CLIENT_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Handles input that is not a valid HTTP request: there is no reply object, only the connection. */
function handleClientError(
  error: Error & { code?: string },
  socket: Socket & { readonly _httpMessage?: ServerResponse | null },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  // In the middle of a response under way it would be taken for a part of that, as Node itself checks by this field.
  if (socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const problem = problemOf(CLIENT_STATUS[error.code ?? ''] ?? 400);
  const body = renderProblem(problem, 'none');
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `Content-Type: ${PROBLEM_JSON}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Not at once: with bytes unread, the system resets the connection, and the client may lose the answer.
  const timer = setTimeout(() => socket.destroy(), REFUSED_CLOSES_WITHIN_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
