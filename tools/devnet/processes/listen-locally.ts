import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Has the server listen on a free port of 127.0.0.1; `stop` ends its connections too. */
export async function listenLocally(server: Server): Promise<{ url: string; stop: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
