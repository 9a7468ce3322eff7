import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give away by themselves: what is stopped here and started again finds its port free. */
const [FIRST, LAST] = [20_000, 32_767];
const TRIES = 100;

/**
 * A port that nobody listens on now: the wanted one if it is free, else any. Between this answer and its use another
 * process may take it; callers that can, try again.
 */
export async function findFreePort(wanted = 0, host = '127.0.0.1'): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted, host))) return wanted;
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no free port on ${host}`);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
