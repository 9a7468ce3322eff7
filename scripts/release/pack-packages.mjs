// The published packages as tarballs.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram } from '../run-step.mjs';

/** In the order in which package.json lists them: each needs those before it alone. */
export function readPackages(root) {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return workspaces.map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
  }));
}

/** Builds and packs each. `noCheck` builds without the check of types. Returns the tarballs' paths. */
export async function packPackages(root, destination, { noCheck = false } = {}) {
  mkdirSync(destination, { recursive: true });
  const tarballs = [];
  for (const { folder, manifest } of readPackages(root)) {
    const cwd = join(root, folder);
    if (manifest.scripts?.build) {
      // What an earlier build left would be packed too.
      rmSync(join(cwd, 'dist'), { recursive: true, force: true });
      // Those before it are built already, so without its `prebuild`.
      const args = ['run', 'build', '--ignore-scripts', ...(noCheck ? ['--', '--noCheck'] : [])];
      await runProgram('npm', args, { cwd, shownAs: `npm run build in ${folder}` });
    }
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
    const [{ filename }] = JSON.parse(await runProgram('npm', args, { cwd, shownAs: `npm pack in ${folder}` }));
    tarballs.push(join(destination, filename));
  }
  return tarballs;
}
