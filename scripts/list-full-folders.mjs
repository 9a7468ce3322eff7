// npm run check:folders: folders that hold more product files than a reader takes in at a glance.
import { dirname } from 'node:path';
import { readProductFiles } from './product-files.mjs';

const MAX_FILES = 20;

/** Folders to be divided, with the files that they may hold until then. */
const LEAVING = {
  'apps/gateway/src/paywall': 42,
  'packages/gate/src': 27,
};

const counts = new Map();
for (const { path } of readProductFiles(/\.(ts|lua)$/)) {
  const folder = dirname(path);
  counts.set(folder, (counts.get(folder) ?? 0) + 1);
}
const full = [...counts].filter(([folder, count]) => count > (LEAVING[folder] ?? MAX_FILES));
const gone = Object.keys(LEAVING).filter((folder) => (counts.get(folder) ?? 0) <= MAX_FILES);

for (const [folder, count] of full) process.stdout.write(`${folder} holds ${count} files: divide it.\n`);
for (const folder of gone) process.stdout.write(`${folder} is small enough: remove it from ${import.meta.filename}.\n`);
if (full.length > 0 || gone.length > 0) process.exitCode = 1;
