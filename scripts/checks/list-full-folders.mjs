// npm run check:folders: folders that hold more product files than a reader takes in at a glance.
import { dirname } from 'node:path';

import { readProductFiles } from './product-files.mjs';

const MAX_FILES = 20;

const counts = new Map();
for (const { path } of readProductFiles(/\.(ts|lua)$/)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
for (const [folder, count] of counts) {
  if (count <= MAX_FILES) continue;
  process.stdout.write(`${folder} holds ${count} files: divide it.\n`);
  process.exitCode = 1;
}
