import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { PROBLEM_JSON, problemOf, renderProblem } from '@tollgate/common';

const CLIENT_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Handles input that is not a valid HTTP request: there is no reply object, only the connection. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
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
}
