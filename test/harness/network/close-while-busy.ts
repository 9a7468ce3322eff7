import { once } from 'node:events';
import { connect } from 'node:net';

import { waitFor } from '../retry.js';

const HEAD = ['POST /nowhere HTTP/1.1', 'Host: busy', 'Content-Type: application/json', 'Content-Length: 2'];

/**
 * Closes a service while a request is under way on a connection that is kept alive, then ends the request. Resolves when
 * the service has answered it, has closed the connection, and is closed.
 */
export async function closeWhileBusy(url: string, close: () => Promise<unknown>): Promise<string> {
  const port = Number(new URL(url).port);
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write([...HEAD, 'Expect: 100-continue', '', ''].join('\r\n'));
  await waitFor('the request has begun', () => received.includes('100 Continue'));
  const closed = close();
  await waitFor('it listens no more', () => refuses(port));
  const ended = once(socket, 'close');
  socket.write('{}');
  await ended;
  await closed;
  return received;
}

async function refuses(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  );
  socket.destroy();
  return isRefused;
}
