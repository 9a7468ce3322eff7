// Finds the Redis server program of this machine. Used by the setup and, through tools/devnet/processes/redis.ts, by everything that starts one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { isProgram, listOnPath } from './on-path.mjs';

/** The verify queue uses BLMPOP, which came with Redis 7. */
const OLDEST = 7;
/** With WAITAOF. */
export const OLDEST_FOR_CLUSTERS = 7.2;

/** Written by the setup next to a server that it unpacked: the paths of the server and its libraries. */
export function unpackedServerPath(root, name) {
  return join(root, '.tollgate', `${name}-bin`, 'program.json');
}

/** By root and PATH, because tests start many servers, and to ask one for its version is to start it. */
const found = new Map();

/** `{command, environment}` of the first server that is new enough: on the PATH, else unpacked by the setup. */
export function findRedisServer(root, oldest = OLDEST) {
  const key = `${root}\n${oldest}\n${process.env.PATH}`;
  if (found.has(key)) return found.get(key);
  for (const program of candidates(root)) {
    if (readVersion(program) < oldest) continue;
    found.set(key, program);
    return program;
  }
  return undefined;
}

function* candidates(root) {
  for (const command of listOnPath('redis-server', 'valkey-server')) {
    if (isProgram(command)) yield { command, environment: {} };
  }
  for (const name of ['redis', 'valkey']) {
    const unpacked = unpackedServerPath(root, name);
    if (!existsSync(unpacked)) continue;
    const { command, libraries } = JSON.parse(readFileSync(unpacked, 'utf8'));
    if (isProgram(command)) yield { command, environment: { LD_LIBRARY_PATH: libraries } };
  }
}

/** Such as 7.2; 0 if the program does not run, for instance because a library is missing. */
function readVersion({ command, environment }) {
  try {
    const text = execFileSync(command, ['--version'], {
      encoding: 'utf8',
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const match = /v=(\d+\.\d+)/.exec(text);
    return match ? Number(match[1]) : 0;
  } catch {
    return 0;
  }
}
