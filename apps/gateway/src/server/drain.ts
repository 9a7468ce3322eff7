import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as afterPoll, setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

const LOOK_EVERY_MS = 50;
/** A request that was sent before the client could notice the stop has arrived by then. */
const MOST_SPARED_MS = 1_000;

/** How long a silent connection stays open at the end, since a request may be on its way; 0 without a drain. */
function sparedMs(drainMs: number): number {
  return Math.min(drainMs, MOST_SPARED_MS);
}

/**
 * Serves as before for `drainMs`, while readiness directs new requests elsewhere; then stops listening. Requests on
 * open connections are still served: `app.close()` waits for them.
 */
export async function drain(server: Server, drainMs: number): Promise<void> {
  await sleep(drainMs);
  // One turn of the event loop accepts and reads the connections that have reached the kernel, which would otherwise
  // reset them.
  await afterPoll();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, sparedMs(drainMs));
    // Not the `close` of the HTTP server, which immediately closes every idle connection.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** After the stop signal, every response closes its connection, so that the client sends no further request on it. */
export function endConnectionsWhenStopping(server: FastifyInstance, isStopping: () => boolean): void {
  server.server.prependListener('request', (_request, response) => {
    if (isStopping()) response.setHeader('Connection', 'close');
  });
  // For requests that were in progress when the signal came.
  server.addHook('onSend', (_request, reply, payload, done) => {
    const options = reply.getHeader('Connection');
    if (isStopping() && options !== 'close') {
      void reply.header('Connection', options === undefined ? 'close' : `close, ${String(options)}`);
    }
    done(null, payload);
  });
}

/**
 * Node closes idle connections only once, when it stops listening: connections still busy at that moment would stay
 * open for their keep-alive time. Node does not count a connection as idle that was opened in advance and never used.
 */
export function closeWhenIdle(server: FastifyInstance, drainMs: number): void {
  const connections = new Set<Socket>();
  const add = (socket: Socket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  };
  server.server.on('connection', add);
  // The inner socket of a TLS connection, which has read nothing before the first request.
  server.server.on('secureConnection', add);
  server.addHook('preClose', (done) => {
    let bytes = -1;
    let quietSinceMs = 0;
    const timer = setInterval(() => {
      const moved = countBytes(connections);
      if (moved !== bytes) quietSinceMs = performance.now();
      bytes = moved;
      // A client may reuse a connection as soon as its response has ended.
      if (performance.now() - quietSinceMs < sparedMs(drainMs)) return;
      server.server.closeIdleConnections();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, LOOK_EVERY_MS);
    timer.unref();
    server.server.once('close', () => clearInterval(timer));
    done();
  });
}

function countBytes(connections: ReadonlySet<Socket>): number {
  let bytes = 0;
  for (const { bytesRead, bytesWritten } of connections) bytes += bytesRead + bytesWritten;
  return bytes;
}
