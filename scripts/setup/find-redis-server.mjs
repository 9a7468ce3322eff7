// Finds the Redis or Valkey server program that this project starts. Used by the setup and, through
// tools/devnet/processes/redis.ts, by everything that starts one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { isProgram, listOnPath } from './on-path.mjs';

/** With WAITAOF, for tests of clusters and replicas. An operator's own Redis may be older: see `findRedis70`. */
export const OLDEST = 7.2;
/** The oldest version that Tollgate supports: the verify queue uses BLMPOP. */
const OLDEST_SUPPORTED = 7;
/** Said by the setup as a warning, and by the spec that fails then. */
export const WITHOUT_REDIS_7_0 =
  'there is no Redis 7.0 or 7.1, on which npm test runs libs/redis/src/oldest-redis.spec.ts: build or unpack one and ' +
  'name its redis-server in TOLLGATE_REDIS_7_0; Debian 12 and Ubuntu 24.04 have it in their packages.';

/** Written by the setup next to a server that it unpacked: the paths of the server and its libraries. */
export function unpackedServerPath(root, name) {
  return join(root, '.tollgate', `${name}-bin`, 'program.json');
}

/** @typedef {{ command: string, environment: Record<string, string> }} RedisProgram */

/** By all that decides, because tests start many servers, and to ask one for its version is to start it. */
const found = new Map();

/** `{command, environment}` of the first server that is new enough: on the PATH, else unpacked by the setup. */
export function findRedisServer(root) {
  return findFirst(root, 'valkey', ['redis-server', 'valkey-server'], (version) => version >= OLDEST);
}

/** Whether a version such as 7.2 is one of these. */
export const isRedis70 = (version) => version >= OLDEST_SUPPORTED && version < OLDEST;

/** A Redis older than the one of `findRedisServer`, for the spec of the oldest one that Tollgate supports. */
export function findRedis70(root) {
  return findFirst(root, 'redis-7.0', ['redis-server'], isRedis70, process.env.TOLLGATE_REDIS_7_0);
}

/** Such as `Valkey 8.1`: what its files are of. */
export function nameServer(program) {
  const [, name, version] = /^(\w+).* v=(\d+\.\d+)/.exec(askVersion(program)) ?? [];
  return `${name} ${version}`;
}

/** @returns {RedisProgram | undefined} */
function findFirst(root, unpackedName, names, isRight, named) {
  const { PATH, TOLLGATE_OWN_SERVERS: own } = process.env;
  const key = JSON.stringify([root, unpackedName, named, PATH, own]);
  if (found.has(key)) return found.get(key);
  const onPath = own === '1' ? [] : listOnPath(...names);
  const programs = [...(named ? [named] : []), ...onPath]
    .filter(isProgram)
    .map((command) => ({ command, environment: {} }));
  const program = [...programs, ...readUnpacked(root, unpackedName)].find((one) => isRight(readVersion(one)));
  if (program !== undefined) found.set(key, program);
  return program;
}

function readUnpacked(root, name) {
  const path = unpackedServerPath(root, name);
  if (!existsSync(path)) return [];
  const { command, libraries } = JSON.parse(readFileSync(path, 'utf8'));
  return isProgram(command) ? [{ command, environment: { LD_LIBRARY_PATH: libraries } }] : [];
}

/** Such as 7.2; 0 if the program does not run, for instance because a library is missing. */
function readVersion(program) {
  try {
    const match = /v=(\d+\.\d+)/.exec(askVersion(program));
    return match ? Number(match[1]) : 0;
  } catch {
    return 0;
  }
}

/** Such as `Valkey server v=8.1.3 sha=…`. */
function askVersion({ command, environment }) {
  return execFileSync(command, ['--version'], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
