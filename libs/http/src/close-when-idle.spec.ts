import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';

import { fastify } from 'fastify';

import { waitFor } from '../../../test/harness/retry.js';
import { closeWhenIdle } from './close-when-idle.js';

const ANSWER_BYTES = 64 * 1024 * 1024;

describe('a server that is closed', () => {
  it('lets a client that is slow take the rest of an answer that has ended', async () => {
    const server = fastify();
    closeWhenIdle(server, 0);
    let isEnded = () => false;
    server.get('/', (_request, reply) => {
      isEnded = () => reply.raw.writableEnded;
      return reply.send(Buffer.alloc(ANSWER_BYTES, 'a'));
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: slow\r\n\r\n');
    await waitFor('the answer has ended', () => isEnded());
    const closed = server.close();
    await waitFor('it listens no more', () => !server.server.listening);
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    await once(socket.resume(), 'close');
    await closed;
    expect(bytes).toBeGreaterThan(ANSWER_BYTES);
  });
});
