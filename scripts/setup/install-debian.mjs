// Gets from the system's package manager what a part of the tests needs; nothing is downloaded from elsewhere.
import { existsSync } from 'node:fs';

import { runProgram, StepError } from '../run-step.mjs';
import { isProgram, listOnPath } from './on-path.mjs';

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable'];
const CHROMIUM_CHOICES = 'install chromium so that it is on the PATH, for example with `apt-get install chromium`.';
const POSTGRES_CHOICES = 'install PostgreSQL 15 or newer, for example with `apt-get install postgresql`.';

/** The browser of test/pages on the PATH; undefined where there is none. */
export function findChromium() {
  return CHROMIUM_NAMES.flatMap((name) => listOnPath(name)).find(isProgram);
}

export async function installChromium() {
  await installDebianPackage('chromium', CHROMIUM_CHOICES);
  if (findChromium() === undefined) throw new StepError('apt-get gave no Chromium', { remedy: CHROMIUM_CHOICES });
}

/** Where Debian's packages have the servers of all versions. */
export const hasPostgres = () => existsSync('/usr/lib/postgresql');

/** Installs Debian's server. @throws StepError with the remedy where this user may not */
export const installPostgres = () => installDebianPackage('postgresql', POSTGRES_CHOICES);

/** Installs a package of the system. @throws StepError with the remedy where this user may not, or apt-get fails */
async function installDebianPackage(name, remedy) {
  if (process.getuid?.() !== 0) throw new StepError(`there is no ${name}, and only root can install it`, { remedy });
  // RUNLEVEL=1 keeps a server from starting with its package: its user starts one with data of its own.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = () => runProgram('apt-get', ['install', '--yes', '--no-install-recommends', name], { env, remedy });
  // The lists of packages, which may be missing or old, are fetched only if it fails without.
  await install().catch(async () => {
    await runProgram('apt-get', ['update'], { env, remedy });
    await install();
  });
}
