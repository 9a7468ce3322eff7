import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as afterPoll, setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

/** A request that was sent before the client could notice the stop has arrived by then. */
const MOST_SPARED_MS = 1_000;

/** How long a silent connection stays open at the end, since a request may be on its way; 0 without a drain. */
export function sparedMs(drainMs: number): number {
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
