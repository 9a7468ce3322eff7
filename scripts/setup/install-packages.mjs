// Installs node_modules if it is missing or differs from package-lock.json.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram } from '../run-step.mjs';

/** Compares with npm's own record, which npm writes last: an interrupted installation has none. */
export function arePackagesInstalled(root) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return true;
    const found = installed[path];
    // The binaries of other platforms are optional and not installed.
    if (!found) return Boolean(entry.optional || entry.devOptional || entry.peer);
    const isLinkedAlike =
      Boolean(entry.link) === Boolean(found.link) && (!entry.link || entry.resolved === found.resolved);
    return isLinkedAlike && entry.version === found.version;
  });
}

export async function installPackages(root) {
  // The npm that runs this script, if one does: it may not be on the PATH.
  const npm = process.env.npm_execpath;
  const [command, args] = npm && npm.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
  await runProgram(
    command,
    [...args, 'ci', '--prefer-offline', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      shownAs: 'npm ci',
      // npm prints its usage after the reason.
      usage: 'Clean install a project',
      remedy:
        'look at the lines above; check the network and `npm config get registry`, then run `npm ci` to see it all.',
    },
  );
}
