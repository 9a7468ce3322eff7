import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { useOwnPrograms } from './setup/own-programs.mjs';

/**
 * What git prints, of the PATH or as the setup unpacked it (`npm run setup -- --git`).
 * @param {string[]} args
 * @param {{ cwd?: string }} options
 */
export function runGit(args, options = {}) {
  useOwnPrograms(fileURLToPath(new URL('..', import.meta.url)));
  return execFileSync('git', args, { encoding: 'utf8', ...options });
}
