// npm run check:folders: folders that hold more product files than a reader takes in at a glance, and folders that need
// each other, which are one folder. A folder's index may import what is below it.
import { basename, dirname, join } from 'node:path';

import { readProductFiles } from './product-files.mjs';

const MAX_FILES = 20;
const IMPORT = /from '(\.[^']+)'/g;

const files = readProductFiles(/\.(ts|lua)$/);
const counts = new Map();
/** By folder, the folders that its files import, each with one of these files. */
const imports = new Map();
for (const { path, text } of files) {
  const folder = dirname(path);
  counts.set(folder, (counts.get(folder) ?? 0) + 1);
  if (basename(path) === 'index.ts') continue;
  for (const [, target] of text.matchAll(IMPORT)) {
    const other = dirname(join(folder, target));
    if (other === folder) continue;
    if (!imports.has(folder)) imports.set(folder, new Map());
    imports.get(folder).set(other, path);
  }
}

function reachesOf(folder, seen = new Set()) {
  for (const other of imports.get(folder)?.keys() ?? []) {
    if (seen.has(other)) continue;
    seen.add(other);
    reachesOf(other, seen);
  }
  return seen;
}

const problems = [...counts]
  .filter(([, count]) => count > MAX_FILES)
  .map(([folder, count]) => `${folder} holds ${count} files: divide it.`);
for (const [folder, others] of imports) {
  for (const [other, path] of others) {
    if (reachesOf(other).has(folder)) {
      problems.push(`${path} imports ${other}, which needs ${folder}: let one of them need the other.`);
    }
  }
}

for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
