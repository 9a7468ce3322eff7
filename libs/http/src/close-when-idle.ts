import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

const LOOK_EVERY_MS = 50;
/** A client that takes nothing of its answer for this long does not keep the server from closing. */
const STALLED_AFTER_MS = 5_000;

/**
 * Node closes idle connections only once, when it stops listening: connections still busy at that moment would stay
 * open for their keep-alive time, and Fastify's `forceCloseConnections: 'idle'` does no more. Node does not count a
 * connection as idle that was opened in advance and never used.
 * @param sparedMs how long connections must have been silent, since a request may be on its way
 */
export function closeWhenIdle(server: FastifyInstance, sparedMs: number): void {
  const connections = new Set<Socket>();
  const add = (socket: Socket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  };
  server.server.on('connection', add);
  // The inner socket of a TLS connection, which has read nothing before the first request.
  server.server.on('secureConnection', add);
  server.addHook('preClose', (done) => {
    const closeIdle = server.server.closeIdleConnections.bind(server.server);
    // Node counts a connection as idle once its answer has ended, although a slow client has not taken all of it.
    const isSending = () => [...connections].some(({ writableLength }) => writableLength > 0);
    // Node and Fastify call it as soon as the server stops listening.
    server.server.closeIdleConnections = () => {
      if (!isSending()) closeIdle();
    };
    let bytes = -1;
    let quietSinceMs = 0;
    const timer = setInterval(() => {
      const moved = countBytes(connections);
      if (moved !== bytes) quietSinceMs = performance.now();
      bytes = moved;
      const quietMs = performance.now() - quietSinceMs;
      // A client may reuse a connection as soon as its response has ended.
      if (quietMs < (isSending() ? STALLED_AFTER_MS : sparedMs)) return;
      closeIdle();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, LOOK_EVERY_MS);
    timer.unref();
    server.server.once('close', () => clearInterval(timer));
    done();
  });
}

/** Bytes that were read, and that have left. */
function countBytes(connections: ReadonlySet<Socket>): number {
  let bytes = 0;
  for (const { bytesRead, bytesWritten, writableLength } of connections)
    bytes += bytesRead + bytesWritten - writableLength;
  return bytes;
}
