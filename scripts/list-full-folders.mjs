// npm run check:folders: folders that hold more product files than a reader takes in at a glance.
import { dirname } from 'node:path';
import { readProductFiles } from './product-files.mjs';

const MAX_FILES = 20;

const counts = new Map();
for (const { path } of readProductFiles(/\.(ts|lua)$/)) {
  const folder = dirname(path);
  counts.set(folder, (counts.get(folder) ?? 0) + 1);
}
const full = [...counts].filter(([, count]) => count > MAX_FILES);

for (const [folder, count] of full) process.stdout.write(`${folder} holds ${count} files: divide it.\n`);
if (full.length > 0) process.exitCode = 1;
