import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports, so that a process that is stopped and started again finds its port free. */
const [FIRST, LAST] = [20_000, 32_767];
/**
 * Jest's workers, proofs that run at the same time and other programs get a share each, so that none takes a port that
 * another has stopped for a moment: 0 other programs, 1 to 5 Jest's workers, 6 to 11 proofs.
 */
const SHARES = 12;
const SHARE = Number(process.env['PORT_SHARE'] ?? process.env['JEST_WORKER_ID'] ?? 0) % SHARES;
const COUNT = Math.floor((LAST + 1 - FIRST) / SHARES);
const TRIES = 100;

/**
 * Increases, so that two callers in one process, or a caller while another's server is stopped, get different ports.
 */
let turn = randomInt(COUNT);

/**
 * A port that is free now: the wanted one if possible, else any. Another process may take it before it is used;
 * callers should then try again.
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
