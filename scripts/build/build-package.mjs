// Builds a published package in its folder: `build-package.mjs <project> … [--noCheck]` compiles each project's
// tsconfig.build.json in that order. `--noCheck` leaves out the check of types.
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { runProgram } from '../run-step.mjs';

const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const projects = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const tsc = resolve(import.meta.dirname, '../../node_modules/typescript-native/bin/tsc');

for (const project of projects) {
  const args = [tsc, '-p', join(project, 'tsconfig.build.json'), ...options];
  await runProgram(process.execPath, args, { cwd: process.cwd(), shownAs: `tsc in ${resolve(project)}` });
}
copyTypesForCommonJs('dist');

/**
 * Copies the declarations to dist/cjs, where TypeScript takes them for those of CommonJS modules: with `module: node16` it
 * lets no CommonJS file import the declarations of an ES module, although `require` loads one since Node 20.19. There is
 * one build of the code, so that a program which imports and requires the package has one memory of its nonces.
 */
function copyTypesForCommonJs(dist) {
  const paths = readdirSync(dist, { recursive: true }).filter(
    (path) => path.endsWith('.d.ts') && !path.startsWith('cjs'),
  );
  for (const path of paths) cpSync(join(dist, path), join(dist, 'cjs', path));
  writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
}
