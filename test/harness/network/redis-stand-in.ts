import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * `closing`: new connections are closed at once. `loading`: the server says that it loads its data. `silent`: it answers
 * nothing more on a connection from the next command on, also after it is `up` again.
 */
type State = 'up' | 'closing' | 'loading' | 'silent';

/**
 * A server that speaks as much of Redis's protocol as the driver needs to connect, also as the only node of a cluster, for
 * troubles that a Redis cannot be brought to. It answers OK to other commands, and nothing to GET and BLPOP.
 */
export interface RedisStandIn {
  url: string;
  /** The names of the commands that it was sent, in lower case. */
  commands: string[];
  /** From now on; `dropping` also closes the open connections. */
  become(state: State, options?: { dropping: boolean }): void;
  stop(): Promise<void>;
}

const NAMES = /\*\d+\r\n\$\d+\r\n([^\r]+)\r\n(?:\$\d+\r\n([^\r]+)\r\n)?/g;
const UNANSWERED = ['get', 'blpop'];

export async function startRedisStandIn(): Promise<RedisStandIn> {
  let state: State = 'up';
  const sockets = new Set<Socket>();
  const commands: string[] = [];
  const answer = (name: string, part: string): string => {
    if (name === 'cluster') return part === 'slots' ? slots() : '$16\r\ncluster_state:ok\r\n';
    if (name === 'hello') return '%1\r\n+proto\r\n:3\r\n';
    if (name === 'publish') return ':1\r\n';
    if (name !== 'info') return '+OK\r\n';
    const info = `role:master\r\nloading:${state === 'loading' ? 1 : 0}\r\n`;
    return `$${info.length}\r\n${info}\r\n`;
  };
  const slots = () => `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port()}\r\n`;
  const server = createServer((socket) => {
    let isSilent = false;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    if (state === 'closing') socket.destroy();
    socket.on('data', (chunk) => {
      isSilent ||= state === 'silent';
      for (const [, name = '', part = ''] of chunk.toString().toLowerCase().matchAll(NAMES)) {
        commands.push(name);
        if (!isSilent && !UNANSWERED.includes(name)) socket.write(answer(name, part));
      }
    });
  });
  const port = () => (server.address() as AddressInfo).port;
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${port()}`,
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
