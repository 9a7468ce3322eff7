import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give away by themselves: what is stopped here and started again finds its port free. */
const [FIRST, LAST] = [20_000, 32_767];
/** Jest's two workers and what else runs have a third each: none gets the port of what another has stopped for a moment. */
const SHARES = 3;
const SHARE = Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES;
const COUNT = Math.floor((LAST + 1 - FIRST) / SHARES);
const TRIES = 100;

/** Counts on, so that two who ask one process at once, or while one of its own is stopped, get two ports. */
let turn = randomInt(COUNT);

/**
 * A port that nobody listens on now: the wanted one if it is free, else any. Between this answer and its use another
 * process may take it; callers that can, try again.
 */
export async function findFreePort(wanted = 0, host = '127.0.0.1'): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted, host))) return wanted;
  for (let tries = 0; tries < TRIES; tries++) {
    turn = (turn + 1) % COUNT;
    const port = FIRST + turn * SHARES + SHARE;
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
