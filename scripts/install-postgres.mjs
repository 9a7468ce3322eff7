import { existsSync } from 'node:fs';

import { installDebianPackage } from './install-debian-package.mjs';

/** Where Debian's packages have the servers of all versions. */
export const hasPostgres = () => existsSync('/usr/lib/postgresql');

/** Installs Debian's server. @throws StepError with the remedy where this user may not */
export async function installPostgres() {
  const remedy = 'install PostgreSQL 15 or newer, for example with `apt-get install postgresql`.';
  await installDebianPackage('postgresql', remedy);
}
