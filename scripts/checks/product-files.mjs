import { existsSync, readFileSync } from 'node:fs';

import { runGit } from '../run-git.mjs';

const FOLDERS = ['apps', 'libs', 'packages', 'tools'];

/** The files of the product whose names match: no specs, nothing below a folder `test`, and no built file. */
export function readProductFiles(pattern) {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', ...FOLDERS];
  const paths = runGit(list).split('\n');
  return paths
    .filter((path) => pattern.test(path) && !/\.spec\.ts$|\/test\//.test(path) && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}
