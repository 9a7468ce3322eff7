import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as afterPoll, setTimeout as sleep } from 'node:timers/promises';

import { isStopping } from '@tollgate/common';
import type { FastifyInstance } from 'fastify';

const LOOK_EVERY_MS = 50;
/** A request that left its client before the client could know is here by then. */
const MOST_SPARED_MS = 1_000;

/** How long a silent connection is left alone in the end, since a request may be on its way; 0 without a drain. */
function sparedMs(drainMs: number): number {
  return Math.min(drainMs, MOST_SPARED_MS);
}

/**
 * Serves as before for `drainMs`, while readiness sends new requests elsewhere; then stops listening. Requests are
 * still served on the connections that are open: `app.close()` waits for them.
 */
export async function drain(server: Server, drainMs: number): Promise<void> {
  await sleep(drainMs);
  // What has reached this machine is accepted and read in a turn of the event loop: the kernel would reset it.
  await afterPoll();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, sparedMs(drainMs));
    // Not the close of `Server`, which at once cuts every connection that is idle.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** From the stop signal on, every answer ends its connection, so that no client sends another request on it. */
export function endConnectionsWhenStopping(server: FastifyInstance): void {
  server.server.prependListener('request', (_request, response) => {
    if (isStopping()) response.setHeader('Connection', 'close');
  });
  // Of requests that were under way when the signal came.
  server.addHook('onSend', (_request, reply, payload, done) => {
    const options = reply.getHeader('Connection');
    if (isStopping() && options !== 'close') {
      void reply.header('Connection', options === undefined ? 'close' : `close, ${String(options)}`);
    }
    done(null, payload);
  });
}

/**
 * Node closes idle connections once, when it stops listening: those that still answer then would stay for their
 * keep-alive. A connection that was opened in advance and never asked for anything it does not even call idle.
 */
export function closeWhenIdle(server: FastifyInstance, drainMs: number): void {
  const connections = new Set<Socket>();
  const add = (socket: Socket): void => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  };
  server.server.on('connection', add);
  // The socket inside TLS, which has read nothing before the first request.
  server.server.on('secureConnection', add);
  server.addHook('preClose', (done) => {
    let bytes = -1;
    let quietSinceMs = 0;
    const timer = setInterval(() => {
      const moved = countBytes(connections);
      if (moved !== bytes) quietSinceMs = performance.now();
      bytes = moved;
      // A client may use a connection again as soon as its answer has ended.
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
