import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Upstream {
  readonly url: string;
  /** The received requests, in order; the body is read to its end before the handler runs. */
  readonly requests: ReceivedRequest[];
  /** The number of connections that were opened. */
  connections(): number;
  stop(): Promise<void>;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A real HTTP server on a free port; `answer` may be replaced while it runs. */
export async function startUpstream(answer: RequestListener): Promise<Upstream & { answer: RequestListener }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request;
      requests.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() });
      upstream.answer(request, response);
    });
  });
  const upstream = { ...(await listen(server)), requests, answer };
  return upstream;
}

/** Speaks no HTTP by itself: for faults that a proper HTTP server cannot produce. */
export async function startRawUpstream(onRequest: (socket: Socket, connection: number) => void): Promise<Upstream> {
  let connection = 0;
  const server = createRawServer((socket) => {
    connection += 1;
    const own = connection;
    socket.on('error', () => socket.destroy());
    socket.on('data', () => onRequest(socket, own));
  });
  return { ...(await listen(server)), requests: [] };
}

async function listen(server: Server) {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => opened,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
