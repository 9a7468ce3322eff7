// Gets programs from Debian's packages without installing them, which needs no rights and changes nothing of the system.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram, StepError } from '../run-step.mjs';
import { isProgram, listOnPath } from './on-path.mjs';

const DEBIAN_KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list.d';
const KINDS_LEFT_OUT = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
  (kind) => `--no-${kind}`,
);

/** Whether the system has apt-get. */
export const hasApt = () => listOnPath('apt-get').some(isProgram);

/**
 * Unpacks packages into a folder of their own, with the libraries that they need and that the system lacks. Only the
 * packages in `needing` are searched for libraries. If the system's package lists do not have them, or are
 * empty, lists of its own are fetched, those of the backports among them. `isRight` tells of a version such as 7.2 whether
 * the packages may have it. @returns the folders for LD_LIBRARY_PATH
 */
export async function unpackDebian(root, folder, packages, { needing = packages, isRight } = {}) {
  rmSync(folder, { recursive: true, force: true });
  const [downloads, files] = ['downloads', 'files'].map((part) => join(folder, part));
  mkdirSync(files, { recursive: true });
  const download = async (options) => {
    // What the first attempt left may have other versions than the second one brings.
    rmSync(downloads, { recursive: true, force: true });
    mkdirSync(downloads);
    const chosen = isRight === undefined ? packages : await chooseVersions(packages, isRight, options);
    const wanted = [...chosen, ...(await findMissing(needing, options))];
    await runProgram('apt-get', [...options, 'download', ...wanted], { cwd: downloads, env: { LC_ALL: 'C' } });
  };
  await download([]).catch(async (error) => {
    // Newer lists of the same system have no older version.
    if (error instanceof WrongVersion) throw error;
    await download(await fetchLists(root));
  });
  for (const file of readdirSync(downloads)) await runProgram('dpkg', ['-x', join(downloads, file), files]);
  rmSync(downloads, { recursive: true });
  return ['usr/lib', 'lib']
    .map((path) => join(files, path))
    .flatMap((path) => [path, ...subfolders(path)])
    .join(':');
}

/** Removes the package lists that `unpackDebian` fetched, which are large and are old tomorrow. */
export function removeLists(root) {
  fetched = undefined;
  // After Ctrl-C, apt-get may still write there.
  rmSync(listsFolder(root), { recursive: true, force: true, maxRetries: 5 });
}

const listsFolder = (root) => join(root, '.tollgate', 'apt');
let fetched;

/** The options by which apt uses lists of our own, fetched once in a run. */
function fetchLists(root) {
  fetched ??= (async () => {
    const folder = listsFolder(root);
    rmSync(folder, { recursive: true, force: true });
    const [lists, sources] = ['lists', 'sources'].map((part) => join(folder, part));
    for (const path of [sources, join(lists, 'partial')]) mkdirSync(path, { recursive: true });
    if (existsSync(SOURCES)) cpSync(SOURCES, sources, { recursive: true });
    const places = [`Dir::State::Lists=${lists}`, `Dir::Cache=${folder}`, `Dir::Etc::SourceParts=${sources}`];
    const own = [...places, 'Acquire::Languages=none'].flatMap((option) => ['-o', option]);
    await runProgram('apt-get', [...own, 'update']);
    const backports = await describeBackports(own);
    if (backports !== undefined) {
      writeFileSync(join(sources, 'backports.list'), backports);
      await runProgram('apt-get', [...own, 'update']);
    }
    return own;
  })();
  return fetched;
}

/** The source of Debian's backports beside the source of the release, which the lists name; undefined on other systems. */
async function describeBackports(options) {
  const system = readFileSync('/etc/os-release', 'utf8');
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(system)?.[1];
  if (!/^ID=debian$/m.test(system) || codename === undefined) return undefined;
  const format = '$(SITE) $(RELEASE) $(COMPONENT)';
  const targets = await runProgram('apt-get', [...options, 'indextargets', '--format', format, 'Created-By: Packages']);
  const site = targets
    .split('\n')
    .find((line) => line.endsWith(` ${codename} main`))
    ?.split(' ')[0];
  const signedBy = existsSync(DEBIAN_KEYS) ? `[signed-by=${DEBIAN_KEYS}] ` : '';
  return site && `deb ${signedBy}${site} ${codename}-backports main\n`;
}

class WrongVersion extends StepError {}

/** As `<name>=<version>`, by the package lists, so that no wrong version is downloaded. */
async function chooseVersions(packages, isRight, options) {
  const table = await runProgram('apt-cache', [...options, 'madison', ...packages]);
  const rows = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return packages.map((name) => {
    const versions = rows.filter((row) => row[0] === name).map((row) => row[1]);
    if (versions.length === 0) throw new StepError(`the package lists have no ${name}`);
    const right = versions.find((version) => isRight(Number(/^(?:\d+:)?(\d+\.\d+)/.exec(version)?.[1])));
    if (right === undefined) throw new WrongVersion(`the package lists have ${name} ${versions.join(', ')}`);
    return `${name}=${right}`;
  });
}

/** What these packages need, at any depth, and the system lacks: libraries, and the parts of Python. */
async function findMissing(packages, options) {
  const tree = await runProgram('apt-cache', [...options, 'depends', '--recurse', ...KINDS_LEFT_OUT, ...packages]);
  const needed = tree.split('\n').filter((line) => /^(lib|python3)[a-z0-9.]/.test(line));
  return [...new Set(needed)].filter((name) => !packages.includes(name) && !isInstalled(name));
}

function isInstalled(name) {
  try {
    const status = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return status.startsWith('installed');
  } catch {
    return false;
  }
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
