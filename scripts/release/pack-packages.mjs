// The published packages as tarballs.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { writeCjsTypes } from '../build/write-cjs-types.mjs';
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
  const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const tarballs = [];
  for (const { folder, manifest } of readPackages(root)) {
    const cwd = join(root, folder);
    if (manifest.scripts?.build) {
      // What an earlier build left would be packed too.
      rmSync(join(cwd, 'dist'), { recursive: true, force: true });
      await runProgram(process.execPath, [tsc, '-p', 'tsconfig.build.json', ...(noCheck ? ['--noCheck'] : [])], {
        cwd,
        shownAs: `tsc in ${folder}`,
      });
      writeCjsTypes(cwd);
    }
    // Built already, and the build of each would build those before it again.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
    const [{ filename }] = JSON.parse(await runProgram('npm', args, { cwd, shownAs: `npm pack in ${folder}` }));
    tarballs.push(join(destination, filename));
  }
  return tarballs;
}
