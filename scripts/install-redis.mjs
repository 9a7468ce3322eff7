// Gets a Redis server from the system's package manager: installed if that is allowed, otherwise unpacked into .tollgate.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findRedisServer, unpackedRedisPath } from './find-redis-server.mjs';
import { StepError, runProgram } from './run-step.mjs';

const CHOICES =
  'install redis-server 7 or newer (or valkey-server) so that it is on the PATH, for example with ' +
  '`apt-get install redis-server`, `dnf install valkey`, `apk add redis` or `brew install redis`; ' +
  'or set REDIS_URL to a running Redis 7.';

/** Returns the way in which it got one. */
export async function installRedis(root) {
  const isRoot = typeof process.getuid === 'function' && process.getuid() === 0;
  const ways = [
    ['apt-get', isRoot, installByApt],
    ['apt-get', true, unpackByApt],
    ['dnf', isRoot, installByDnf],
    ['apk', isRoot, () => runProgram('apk', ['add', '--no-cache', 'redis'])],
    ['brew', !isRoot, () => runProgram('brew', ['install', 'redis'])],
  ];
  const failures = [];
  for (const [tool, isAllowed, install] of ways) {
    if (!isAllowed || !isOnPath(tool)) continue;
    try {
      const note = await install(root);
      if (findRedisServer(root)) return typeof note === 'string' && note.startsWith('by ') ? note : `by ${tool}`;
      failures.push(`${tool} gave no redis-server of version 7 or newer`);
    } catch (error) {
      failures.push(error.message, ...(error.tail || []).slice(-5));
    }
  }
  throw new StepError('this machine has no Redis server', { tail: failures, remedy: CHOICES });
}

async function installByApt() {
  // RUNLEVEL=1 and the policy keep the package from starting a server of its own on port 6379.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = () => runProgram('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], { env });
  try {
    await install();
  } catch {
    await runProgram('apt-get', ['update'], { env });
    await install();
  }
  return 'by apt-get install redis-server';
}

async function installByDnf() {
  await runProgram('dnf', ['install', '-y', 'redis']).catch(() => runProgram('dnf', ['install', '-y', 'valkey']));
}

/** Downloads the packages and unpacks them, which needs no rights; the package lists are fetched if there are none. */
async function unpackByApt(root) {
  const folder = dirname(unpackedRedisPath(root));
  rmSync(folder, { recursive: true, force: true });
  const [packages, files, lists] = ['packages', 'files', 'lists'].map((name) => join(folder, name));
  for (const path of [packages, files, join(lists, 'partial')]) mkdirSync(path, { recursive: true });
  const ownLists = ['-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${folder}`];

  const download = async (options) => {
    const wanted = ['redis-server', 'redis-tools', ...(await missingLibraries(options))];
    await runProgram('apt-get', [...options, 'download', ...wanted], { cwd: packages, env: { LC_ALL: 'C' } });
  };
  try {
    await download([]);
  } catch {
    await runProgram('apt-get', [...ownLists, 'update']);
    await download(ownLists);
  }
  for (const name of readdirSync(packages)) await runProgram('dpkg', ['-x', join(packages, name), files]);
  rmSync(packages, { recursive: true });
  rmSync(lists, { recursive: true });

  const libraries = ['usr/lib', 'lib']
    .map((path) => join(files, path))
    .flatMap((path) => [path, ...subfolders(path)])
    .join(':');
  const command = join(files, 'usr', 'bin', 'redis-server');
  writeFileSync(unpackedRedisPath(root), JSON.stringify({ command, libraries }));
  return 'by apt-get download into .tollgate/redis-bin';
}

/** The libraries that redis-tools needs, at any depth, and that are missing. */
async function missingLibraries(options) {
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((kind) => `--no-${kind}`);
  const tree = await runProgram('apt-cache', [...options, 'depends', '--recurse', ...kinds, 'redis-tools']);
  const libraries = tree.split('\n').filter((line) => /^lib[a-z0-9]/.test(line));
  return libraries.filter((name) => {
    try {
      const status = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return !status.startsWith('installed');
    } catch {
      return true;
    }
  });
}

function subfolders(path) {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(path, entry.name));
  } catch {
    return [];
  }
}

function isOnPath(tool) {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}
