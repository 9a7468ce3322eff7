import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { repositoryRoot } from './repository.js';

export interface RedisProgram {
  command: string;
  env: NodeJS.ProcessEnv;
}

/**
 * The Redis (or Valkey) server program: on the PATH, else the one that `node scripts/setup.mjs` unpacked into
 * `.tollgate/redis-bin`.
 */
export function findRedisServer(): RedisProgram {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['redis-server', 'valkey-server']) {
      const command = join(folder, name);
      if (isProgram(command)) return { command, env: process.env };
    }
  }
  // Written by the setup: {command, libraries}, both inside the unpacked package.
  const unpacked = join(repositoryRoot(), '.tollgate', 'redis-bin', 'program.json');
  if (existsSync(unpacked)) {
    const { command, libraries } = JSON.parse(readFileSync(unpacked, 'utf8')) as { command: string; libraries: string };
    if (isProgram(command)) return { command, env: { ...process.env, LD_LIBRARY_PATH: libraries } };
  }
  throw new Error('There is no redis-server: run `npm run setup`, or put redis-server 7 or valkey-server on the PATH.');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
