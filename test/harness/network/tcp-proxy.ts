import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  port: number;
  /**
   * From the next client chunk with this text on, the server still gets everything, and the client of that connection
   * gets nothing. Resolves when the server has sent the reply that is held back.
   */
  holdRepliesTo(text: string): Promise<void>;
  /** From now on every answer of the server is delayed by this time. */
  slowDown(byMs: number): void;
  /** From now on the server's answers lack the lines of INFO with these names. */
  hideLines(names: readonly string[]): void;
  /** Forwards new connections again; the replies held back are lost, and so are the open connections. */
  release(): void;
  stop(): Promise<void>;
}

/** A proxy between a service and its server that loses or delays answers. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let hold: { text: string; answered: () => void } | null = null;
  let delayMs = 0;
  let hidden: RegExp | null = null;
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    let held: (() => void) | null = null;
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (hold !== null && chunk.includes(hold.text)) held = hold.answered;
      target.write(chunk);
    });
    target.on('data', (answer: Buffer) => {
      // Of the same length, which the answer names.
      const chunk = hidden ? Buffer.from(answer.toString('latin1').replace(hidden, hideName), 'latin1') : answer;
      if (held !== null) held();
      else if (delayMs === 0) client.write(chunk);
      else setTimeout(() => client.write(chunk), delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    holdRepliesTo: (text) =>
      new Promise((answered) => {
        hold = { text, answered };
      }),
    slowDown: (byMs) => {
      delayMs = byMs;
    },
    hideLines: (names) => {
      hidden = new RegExp(`^(?:${names.join('|')}):`, 'gm');
    },
    release: () => {
      hold = null;
      dropAll();
    },
    stop: async () => {
      dropAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const hideName = (name: string): string => '#'.padEnd(name.length, '-');
