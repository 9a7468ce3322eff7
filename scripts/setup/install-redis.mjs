// Gets a Redis server, or Valkey, from the system's package manager: installed if that is allowed, otherwise unpacked
// into .tollgate.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { StepError, runProgram } from '../run-step.mjs';
import { findRedisServer, OLDEST_FOR_CLUSTERS, unpackedServerPath } from './find-redis-server.mjs';
import { installDebianPackage } from './install-debian.mjs';
import { isProgram, listOnPath } from './on-path.mjs';

const CHOICES =
  'install redis-server 7 or newer (or valkey-server) so that it is on the PATH, for example with ' +
  '`apt-get install redis-server`, `dnf install valkey`, `apk add redis` or `brew install redis`; ' +
  'or set REDIS_URL to a running Redis 7.';
const CHOICES_FOR_CLUSTERS =
  `install valkey-server, or redis-server ${OLDEST_FOR_CLUSTERS} or newer, so that it is on the PATH, for example with ` +
  '`apt-get install valkey-server` (Debian 12: from its backports), `dnf install valkey`, `apk add valkey` or ' +
  '`brew install valkey`.';
const isRoot = typeof process.getuid === 'function' && process.getuid() === 0;
const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list.d';

/** Returns the way in which it got one. */
export function installRedis(root) {
  return installServer(root, [
    ['apt-get', isRoot, () => installDebianPackage('redis-server').then(() => 'by apt-get install redis-server')],
    ['apt-get', true, () => unpackByApt(root, 'redis')],
    ['dnf', isRoot, installByDnf],
    ['apk', isRoot, () => runProgram('apk', ['add', '--no-cache', 'redis'])],
    ['brew', !isRoot, () => runProgram('brew', ['install', 'redis'])],
  ]);
}

/** A server with WAITAOF, which Debian 12 has only in its backports. It is unpacked, so that no other is replaced. */
export function installValkey(root) {
  const ways = [
    ['apt-get', true, () => unpackByApt(root, 'valkey')],
    ['dnf', isRoot, () => runProgram('dnf', ['install', '-y', 'valkey'])],
    ['apk', isRoot, () => runProgram('apk', ['add', '--no-cache', 'valkey'])],
    ['brew', !isRoot, () => runProgram('brew', ['install', 'valkey'])],
  ];
  return installServer(root, ways, { oldest: OLDEST_FOR_CLUSTERS, choices: CHOICES_FOR_CLUSTERS });
}

async function installServer(root, ways, { oldest = 7, choices = CHOICES } = {}) {
  const failures = [];
  for (const [tool, isAllowed, install] of ways) {
    if (!isAllowed || !listOnPath(tool).some(isProgram)) continue;
    try {
      const note = await install();
      if (findRedisServer(root, oldest)) {
        return typeof note === 'string' && note.startsWith('by ') ? note : `by ${tool}`;
      }
      failures.push(`${tool} gave no server of version ${oldest} or newer`);
    } catch (error) {
      failures.push(error.message, ...(error.tail || []).slice(-5));
    }
  }
  throw new StepError(`this machine has no Redis server of version ${oldest} or newer`, {
    tail: failures,
    remedy: choices,
  });
}

async function installByDnf() {
  await runProgram('dnf', ['install', '-y', 'redis']).catch(() => runProgram('dnf', ['install', '-y', 'valkey']));
}

/**
 * Downloads the packages and unpacks them, which needs no rights. If the package lists do not have them, its own lists are
 * fetched, those of the backports among them.
 */
async function unpackByApt(root, name) {
  const folder = dirname(unpackedServerPath(root, name));
  rmSync(folder, { recursive: true, force: true });
  const [packages, files, lists, sources] = ['packages', 'files', 'lists', 'sources'].map((part) => join(folder, part));
  for (const path of [packages, files, sources, join(lists, 'partial')]) mkdirSync(path, { recursive: true });
  const ownLists = ['-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${folder}`];
  ownLists.push('-o', `Dir::Etc::SourceParts=${sources}`);

  const download = async (options) => {
    const wanted = [`${name}-server`, `${name}-tools`, ...(await missingLibraries(`${name}-tools`, options))];
    await runProgram('apt-get', [...options, 'download', ...wanted], { cwd: packages, env: { LC_ALL: 'C' } });
  };
  try {
    await download([]);
  } catch {
    if (existsSync(SOURCES)) cpSync(SOURCES, sources, { recursive: true });
    writeFileSync(join(sources, 'backports.list'), await describeBackports());
    await runProgram('apt-get', [...ownLists, 'update']);
    await download(ownLists);
  }
  for (const file of readdirSync(packages)) await runProgram('dpkg', ['-x', join(packages, file), files]);
  for (const path of [packages, lists, sources]) rmSync(path, { recursive: true });

  const libraries = ['usr/lib', 'lib']
    .map((path) => join(files, path))
    .flatMap((path) => [path, ...subfolders(path)])
    .join(':');
  const command = join(files, 'usr', 'bin', `${name}-server`);
  writeFileSync(unpackedServerPath(root, name), JSON.stringify({ command, libraries }));
  return `by apt-get download into .tollgate/${name}-bin`;
}

/** The source of Debian's backports beside the source of the release; empty on other systems. */
async function describeBackports() {
  const system = readFileSync('/etc/os-release', 'utf8');
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(system)?.[1];
  if (!/^ID=debian$/m.test(system) || codename === undefined) return '';
  const format = '$(SITE) $(RELEASE) $(COMPONENT)';
  const targets = await runProgram('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const site = targets
    .split('\n')
    .find((line) => line.endsWith(` ${codename} main`))
    ?.split(' ')[0];
  const signedBy = existsSync(DEBIAN_KEYS) ? `[signed-by=${DEBIAN_KEYS}] ` : '';
  return site === undefined ? '' : `deb ${signedBy}${site} ${codename}-backports main\n`;
}

/** The libraries that a package needs, at any depth, and that are missing. */
async function missingLibraries(name, options) {
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((kind) => `--no-${kind}`);
  const tree = await runProgram('apt-cache', [...options, 'depends', '--recurse', ...kinds, name]);
  const libraries = tree.split('\n').filter((line) => /^lib[a-z0-9]/.test(line));
  return libraries.filter((library) => {
    try {
      const status = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', library], {
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
