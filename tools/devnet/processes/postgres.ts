import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChild, type Child } from './child-process.js';
import { findFreePort } from './free-port.js';

const DEBIAN = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root: then it runs as this user, whom every system has. */
const NOBODY = 65_534;
/** Owns its databases and may create more; it is no superuser. */
const ROLE = 'tollgate';

export interface PostgresServer {
  /** The URL of the database `tollgate`, as an unprivileged role. */
  url: string;
  /** SIGKILL to the server and all its sessions. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  /**
   * Lets no file of it grow beyond so many bytes, or any that the system allows (null): to the server that is a full disk.
   * Applies to sessions that run and to later ones.
   */
  limitFiles(bytes: number | null): void;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL server on 127.0.0.1, with data of its own that `stop` removes. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = findPrograms();
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(dir, NOBODY, NOBODY);
  const as = isRoot ? ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'] : [];
  const run = (program: string, ...args: string[]) => {
    const [command = '', ...rest] = [...as, join(bin, program), ...args];
    execFileSync(command, rest, { stdio: 'pipe', cwd: dir });
  };
  run('initdb', '-D', join(dir, 'data'), '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C');
  const port = await findFreePort();
  const launch = async (): Promise<Child> => {
    const server = ['-D', join(dir, 'data'), '-p', String(port), '-k', dir, '-c', 'listen_addresses=127.0.0.1'];
    const [command = '', ...args] = [...as, join(bin, 'postgres'), ...server];
    const child = await startChild({ name: 'postgres', command, args, cwd: dir });
    await child.waitForLine(/database system is ready to accept connections/, 180_000);
    return child;
  };
  let child = await launch();
  const admin = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  run('createuser', ...admin, '--createdb', '--no-superuser', '--no-createrole', ROLE);
  run('createdb', ...admin, '-O', ROLE, 'tollgate');
  return {
    url: `postgres://${ROLE}@127.0.0.1:${port}/tollgate`,
    kill: async () => {
      await child.end('SIGKILL');
      // Its sessions notice that it is gone, and end; until then they hold its shared memory.
      while (listProcesses(dir).length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    },
    start: async () => {
      child = await launch();
    },
    limitFiles: (bytes) => {
      for (const pid of listProcesses(dir)) {
        const [command = '', ...args] = [...as, 'prlimit', '--pid', pid, `--fsize=${bytes ?? 'unlimited'}:`];
        try {
          execFileSync(command, args, { stdio: 'pipe' });
        } catch (error) {
          // A session or a worker of the server may end at any moment, and needs no limit then.
          if (listProcesses(dir).includes(pid)) throw error;
        }
      }
    },
    stop: async () => {
      // A fast shutdown, which does not wait for clients.
      await child.end('SIGINT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The processes of the server: those that work in this folder. */
function listProcesses(dir: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(dir);
    } catch {
      return false;
    }
  });
}

function findPrograms(): string {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .sort((one, other) => other - one)
    : [];
  const found = versions
    .map((version) => join(DEBIAN, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined) throw new Error('There is no PostgreSQL: apt-get install postgresql, version 15 or newer.');
  return found;
}
