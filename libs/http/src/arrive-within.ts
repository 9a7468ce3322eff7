import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { PROBLEM_JSON, problemOf, renderProblem } from './problem.js';

/** For the few kilobytes that operators send. */
const SMALL_BODY_MS = 10_000;
/** How long a client whose bytes were refused may take to read the answer, and to stop sending. */
const REFUSED_CLOSES_WITHIN_MS = 1_000;

/**
 * Options of a Fastify server on which a request, its head and its body, must arrive in this time: whether its bytes stop
 * or drip, it is answered 408, and its connection is closed. How long the answer takes makes no difference.
 */
export function arriveWithin(ms: number = SMALL_BODY_MS) {
  return {
    requestTimeout: ms,
    // Node sees late bodies only where the time of the head is no longer, and sets that by these options alone.
    http: { requestTimeout: ms, connectionsCheckingInterval: ms / 10 },
    clientErrorHandler: answerClientError,
  };
}

const CLIENT_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers input that is not a valid HTTP request: there is no reply object, only the connection. */
function answerClientError(
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
  // What comes still is thrown away: a request that has its answer here is not served as well.
  socket.removeAllListeners('data').on('data', () => undefined);
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Not at once: with bytes unread, the system resets the connection, and the client may lose the answer.
  const timer = setTimeout(() => socket.destroy(), REFUSED_CLOSES_WITHIN_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
