// Programs of the system that tests and checks run, and that a bare system may lack: unpacked into .tollgate then.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { StepError } from '../run-step.mjs';
import { isProgram, listOnPath } from './on-path.mjs';
import { hasApt, unpackDebian } from './unpack-debian.mjs';

/** By program: its packages, the variables that tell it where its files are, and its folder in `usr`, if not `bin`. */
const PROGRAMS = {
  git: {
    packages: ['git'],
    variables: { GIT_EXEC_PATH: 'usr/lib/git-core', GIT_TEMPLATE_DIR: 'usr/share/git-core/templates' },
  },
  curl: { packages: ['curl'], variables: {} },
  python3: { packages: ['python3', 'python3-minimal'], variables: { PYTHONHOME: 'usr' } },
  nginx: { packages: ['nginx'], variables: {}, folder: 'sbin' },
  caddy: { packages: ['caddy'], variables: {} },
};
const folderOf = (root) => join(root, '.tollgate', 'programs');
const binOf = (root) => join(folderOf(root), 'bin');

/** Puts what was unpacked at the end of this process's PATH, which its children inherit. */
export function useOwnPrograms(root) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (existsSync(binOf(root)) && !folders.includes(binOf(root)))
    process.env.PATH = [...folders, binOf(root)].join(delimiter);
}

export function findMissingPrograms(names) {
  return names.filter((name) => !listOnPath(name).some(isProgram));
}

/** Unpacks those of these programs that the PATH lacks. @throws StepError with the remedy where that cannot be */
export async function unpackPrograms(root, names) {
  const missing = findMissingPrograms(names);
  const remedy = `get ${missing.join(', ')} from the system's package manager, so that the PATH has what is missing.`;
  if (!hasApt()) throw new StepError(`there is no ${missing.join(', no ')} on the PATH`, { remedy });
  for (const name of missing) await unpackProgram(root, name);
  useOwnPrograms(root);
  const left = findMissingPrograms(names);
  if (left.length > 0) throw new StepError(`apt-get gave no ${left.join(', no ')}`, { remedy });
  return `${missing.join(', ')} by apt-get`;
}

async function unpackProgram(root, name) {
  const folder = join(folderOf(root), name);
  const { packages, variables, folder: programs = 'bin' } = PROGRAMS[name];
  const libraries = await unpackDebian(root, folder, packages);
  const files = join(folder, 'files');
  // Relative to the program, so that the clone can be moved.
  const quote = (path) => `"${path.replaceAll(folderOf(root), '$here')}"`;
  const paths = Object.entries(variables).map(([variable, path]) => `${variable}=${quote(join(files, path))}`);
  const settings = [...paths, `LD_LIBRARY_PATH=${quote(libraries)}`].join(' ');
  const start = `#!/bin/sh\nhere=\${0%/bin/*}\n${settings} exec ${quote(join(files, 'usr', programs, name))} "$@"\n`;
  mkdirSync(binOf(root), { recursive: true });
  writeFileSync(join(binOf(root), name), start, { mode: 0o755 });
}
