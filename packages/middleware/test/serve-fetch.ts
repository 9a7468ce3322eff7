import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';

export interface Shop {
  readonly url: string;
  readonly server: Server;
  stop(): Promise<void>;
}

/** Node's own request and response, as Hono's adapter for Node passes them on. */
export interface NodeEnvironment {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Serves requests to a `fetch`-style handler. */
export function serveFetch(
  handle: (request: Request, environment: NodeEnvironment) => Response | Promise<Response>,
): RequestListener {
  return (incoming, outgoing) => {
    const controller = new AbortController();
    outgoing.once('close', () => !outgoing.writableFinished && controller.abort());
    void (async () => {
      const response = await Promise.resolve(
        handle(toRequest(incoming, controller.signal), { incoming, outgoing }),
      ).catch(() => new Response('broken', { status: 500 }));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body === null) outgoing.end();
      // As servers do, it cancels the body of a client that has left.
      else pipeline(Readable.fromWeb(response.body), outgoing, () => undefined);
    })();
  };
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { url = '/', method = 'GET' } = incoming;
  const headers = incoming.headers as Record<string, string>;
  const body = ['GET', 'HEAD'].includes(method) ? {} : { body: Readable.toWeb(incoming), duplex: 'half' as const };
  return new Request(`http://${headers['host']}${url}`, { method, headers, signal, ...body });
}

export async function listen(listener: RequestListener): Promise<Shop> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
