// Gets the servers that the project starts: unpacked into .tollgate where the system has Debian's packages, else installed
// by its package manager.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { StepError, runProgram } from '../run-step.mjs';
import {
  findRedis70,
  findRedisServer,
  isRedis70,
  OLDEST,
  unpackedServerPath,
  WITHOUT_REDIS_7_0,
} from './find-redis-server.mjs';
import { isProgram, listOnPath } from './on-path.mjs';
import { hasApt, unpackDebian } from './unpack-debian.mjs';

const CHOICES =
  `install valkey-server, or redis-server ${OLDEST} or newer, so that it is on the PATH, for example with ` +
  '`apt-get install valkey-server` (Debian 12: from its backports), `dnf install valkey`, `apk add valkey` or ' +
  '`brew install valkey`; TOLLGATE_OWN_SERVERS must not be set then.';

const CHOICE_OF_ANOTHER = ' The REDIS_URL of a Redis that runs is enough, too.';

/** Returns the way in which it got one. `needsServer`: a Redis that runs is not enough. */
export async function installRedis(root, { needsServer = true } = {}) {
  const isRoot = process.getuid?.() === 0;
  // What these install is on the PATH, which is not looked at with TOLLGATE_OWN_SERVERS=1.
  const isOnPathUsed = process.env.TOLLGATE_OWN_SERVERS !== '1';
  const ways = [
    ['apt-get', true, () => unpackServer(root, 'valkey', 'valkey')],
    ['dnf', isOnPathUsed && isRoot, () => runProgram('dnf', ['install', '-y', 'valkey'])],
    ['apk', isOnPathUsed && isRoot, () => runProgram('apk', ['add', '--no-cache', 'valkey'])],
    ['brew', isOnPathUsed && !isRoot, () => runProgram('brew', ['install', 'valkey'])],
  ];
  const failures = [];
  for (const [tool, isAllowed, install] of ways) {
    if (!isAllowed || !listOnPath(tool).some(isProgram)) continue;
    try {
      await install();
      if (findRedisServer(root)) return `by ${tool}`;
      failures.push(`${tool} gave no server of version ${OLDEST} or newer`);
    } catch (error) {
      failures.push(error.message, ...(error.tail || []).slice(-5));
    }
  }
  const missing = `there is no Valkey, nor a Redis server of version ${OLDEST} or newer`;
  throw new StepError(missing, { tail: failures, remedy: needsServer ? CHOICES : CHOICES + CHOICE_OF_ANOTHER });
}

/** For the spec of the oldest Redis that Tollgate supports. Returns the way in which it got one. */
export async function installRedis70(root) {
  const failures = [];
  if (hasApt())
    await unpackServer(root, 'redis', 'redis-7.0', isRedis70).catch((error) =>
      failures.push(error.message, ...(error.tail ?? []).slice(-5)),
    );
  if (findRedis70(root)) return 'by apt-get';
  throw new StepError(WITHOUT_REDIS_7_0, { tail: failures });
}

async function unpackServer(root, product, name, isRight) {
  const path = unpackedServerPath(root, name);
  const packages = [`${product}-server`, `${product}-tools`];
  const libraries = await unpackDebian(root, dirname(path), packages, { needing: [`${product}-tools`], isRight });
  const command = join(dirname(path), 'files', 'usr', 'bin', `${product}-server`);
  writeFileSync(path, JSON.stringify({ command, libraries }));
}
