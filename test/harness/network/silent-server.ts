import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';

import { waitFor } from '../retry.js';
import { collectGarbage } from '../stack/collect-garbage.js';

/** A server that begins each answer and then sends nothing more, with its connections open. */
export interface SilentServer {
  url: string;
  /** Requests whose answers have begun. */
  begun(): number;
  /** Waits for the first request, then removes what only weak references keep alive, as Node does at any time. */
  asked(): Promise<void>;
  /** Resolves when the connection of this request, counted from 0, is closed by the other side. */
  closed(request: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param begin writes the beginning of an answer; by default `{` after a status of 200 */
export async function startSilentServer(
  begin: (response: ServerResponse, request: IncomingMessage) => void = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{');
  },
): Promise<SilentServer> {
  const closings: Promise<void>[] = [];
  const server = createServer((request, response) => {
    closings.push(new Promise((resolve) => response.once('close', resolve)));
    begin(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begun: () => closings.length,
    asked: async () => {
      await waitFor('the request', () => closings.length >= 1);
      await collectGarbage();
    },
    closed: (request) => closings[request] ?? Promise.reject(new Error(`there was no request ${request}`)),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A server that accepts connections and never answers the beginning of TLS, so that no connection is ever made. */
export async function startDeafServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
