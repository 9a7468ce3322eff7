import { createServer, type AddressInfo } from 'node:net';

/**
 * A port that nobody listens on now: the wanted one if it is free, else one that the system picks. Between this answer
 * and its use another process may take it; callers that can, try again.
 */
export async function findFreePort(wanted = 0, host = '127.0.0.1'): Promise<number> {
  return (
    (await tryPort(wanted, host)) ?? (await tryPort(0, host)) ?? Promise.reject(new Error(`no free port on ${host}`))
  );
}

function tryPort(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo;
      server.close(() => resolve(taken));
    });
  });
}
