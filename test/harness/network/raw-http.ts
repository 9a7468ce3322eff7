import { connect } from 'node:net';

export interface RawAnswer {
  /** The status of each response on the connection, in order; empty when the server just closed it. */
  statuses: number[];
  text: string;
}

/**
 * Writes bytes to a server unchanged, as no HTTP client would, and reads until the connection ends. The client closes
 * it after `quietMs` without a byte from the server.
 */
export function sendRaw(baseUrl: string, bytes: string | Buffer, { quietMs = 3000 } = {}): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    const finishLater = () => {
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), quietMs);
    };
    socket.on('connect', () => {
      socket.write(bytes);
      timer = setTimeout(() => socket.destroy(), 30_000);
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      finishLater();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      resolve({ statuses, text });
    });
  });
}

/** A request head; by default the last one on its connection. */
export function requestHead(target: string | Buffer, headers: readonly string[] = [], method = 'GET'): Buffer {
  return Buffer.concat([
    Buffer.from(`${method} `),
    Buffer.isBuffer(target) ? target : Buffer.from(target, 'latin1'),
    Buffer.from([' HTTP/1.1', 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n'), 'latin1'),
  ]);
}
