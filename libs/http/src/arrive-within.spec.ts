import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';

import { fastify, type FastifyInstance } from 'fastify';

import { arriveWithin } from './arrive-within.js';

const WITHIN_MS = 150;
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('a server on which requests must arrive in time', () => {
  let server: FastifyInstance;
  let served = 0;

  beforeAll(async () => {
    server = fastify(arriveWithin(WITHIN_MS));
    server.post('/', () => {
      served += 1;
      return 'served';
    });
    server.get('/', async () => {
      await new Promise((resolve) => setTimeout(resolve, 2 * WITHIN_MS));
      return 'served late';
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  /** What a client gets that sends this, and then ever more of `drip` until its connection is closed. */
  async function send(bytes: string, drip = ''): Promise<string> {
    const client = connect(portOf(server), '127.0.0.1');
    let received = '';
    client.on('data', (chunk) => (received += chunk.toString())).on('error', () => undefined);
    client.write(bytes);
    const timer = setInterval(() => drip !== '' && client.write(drip), WITHIN_MS / 10);
    await once(client, 'close');
    clearInterval(timer);
    return received;
  }

  it.each([
    ['head stops', 'POST / HTTP/1.1\r\nHo', ''],
    ['head drips', `${HEAD}X: `, 'x'],
    ['body never begins', `${HEAD}Content-Length: 100\r\n\r\n`, ''],
    ['body stops', `${HEAD}Content-Length: 100\r\n\r\n{`, ''],
    ['body drips', `${HEAD}Content-Length: 60000\r\n\r\n{`, ' '],
    ['chunks stop', `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, ''],
    ['body stops, on a path that is not served', `${HEAD.replace('/', '/none')}Content-Length: 100\r\n\r\n{`, ''],
  ])('answers 408 where its %s, and closes the connection', async (_, bytes, drip) => {
    expect(await send(bytes, drip)).toMatch(/HTTP\/1.1 408 [^]*"code":"request_timeout"/);
  });

  it('does not serve a request too that was answered 408 and is whole after that', async () => {
    const client = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
    client.write(`${HEAD}Content-Length: 2\r\n\r\n{`);
    await once(client.resume(), 'end');
    const before = served;
    client.end('}');
    await once(client, 'close');
    expect(await send(`${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`)).toMatch(/served$/);
    expect(served).toBe(before + 1);
  });

  it('waits for its own answer as long as that takes, and serves the next request', async () => {
    const two = `GET / HTTP/1.1\r\nHost: x\r\n\r\n${HEAD}Content-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect(await send(two)).toMatch(/served late[^]*served$/);
  });
});

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}
