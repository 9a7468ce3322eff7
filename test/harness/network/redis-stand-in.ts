import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `closing`: new connections are closed at once. `loading`: the server says that it loads its data. `silent`: it answers
 * nothing more on a connection from the next command on, also after it is `up` again.
 */
type State = 'up' | 'closing' | 'loading' | 'silent';

/**
 * A server that speaks as much of Redis's protocol as the driver needs to connect, for troubles that a Redis cannot be
 * brought to. It answers OK to other commands, and nothing to GET and BLPOP.
 */
export interface RedisStandIn {
  url: string;
  /** The names of the commands that it was sent, in lower case. */
  commands: string[];
  /** From now on; `dropping` also closes the open connections. */
  become(state: State, options?: { dropping: boolean }): void;
  stop(): Promise<void>;
}

const NAMES = /\*\d+\r\n\$\d+\r\n([^\r]+)\r\n/g;
const UNANSWERED = ['get', 'blpop'];

export async function startRedisStandIn(): Promise<RedisStandIn> {
  let state: State = 'up';
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  const answer = (name: string): string => {
    if (name === 'hello') return '%1\r\n+proto\r\n:3\r\n';
    if (name === 'publish') return ':1\r\n';
    if (name !== 'info') return '+OK\r\n';
    const info = `role:master\r\nloading:${state === 'loading' ? 1 : 0}\r\n`;
    return `$${info.length}\r\n${info}\r\n`;
  };
  const server = createServer((socket) => {
    let isSilent = false;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    if (state === 'closing') socket.destroy();
    socket.on('data', (chunk) => {
      isSilent ||= state === 'silent';
      for (const [, name = ''] of chunk.toString().matchAll(NAMES)) {
        commands.push(name.toLowerCase());
        if (!isSilent && !UNANSWERED.includes(name.toLowerCase())) socket.write(answer(name.toLowerCase()));
      }
    });
  });
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    commands,
    become: (next, { dropping } = { dropping: false }) => {
      state = next;
      if (dropping) drop();
    },
    stop: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
