import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

import { EventStreamResponse } from './event-stream-response.js';

describe('an event stream', () => {
  const stream = new EventStreamResponse({ heartbeatMs: 10, stallMs: 10 });
  let server: Server;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    stream.end();
    server.close();
  });

  it('ends at once if its client left before the head was written', async () => {
    const asked = new Promise<void>((resolve, reject) => {
      server.once('request', (_, response) => {
        client.destroy();
        response.once('close', () => {
          response.writeHead(200);
          const pass = (): Promise<void> => Promise.reject(new Error('it sends events'));
          stream.run(response, () => 'position', pass).then(resolve, reject);
        });
      });
    });
    const client = get({ port: (server.address() as AddressInfo).port }).on('error', () => undefined);
    await asked;
    expect(stream.isEnded).toBe(true);
  });

  // Prevents: streams of clients that left are counted until a heartbeat finds out.
  it('ends as soon as its client half-closes', async () => {
    const open = new EventStreamResponse({ heartbeatMs: 600_000, stallMs: 10 });
    Object.assign(server, { httpAllowHalfOpen: true });
    const ended = new Promise<void>((resolve, reject) => {
      server.once('request', (_, response) => {
        open
          .run(
            response,
            () => 'position',
            async () => void client.end(),
          )
          .then(resolve, reject);
      });
    });
    const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    client.resume();
    await ended;
    expect(open.isEnded).toBe(true);
  });
});
