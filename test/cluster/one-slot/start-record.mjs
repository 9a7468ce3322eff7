import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** Servers of the tests take one slot only from here on, and each worker notes in this folder what it runs. */
export default function startRecord({ rootDir }) {
  const parent = join(rootDir, '.tollgate');
  mkdirSync(parent, { recursive: true });
  process.env.TOLLGATE_TEST_ONE_SLOT_ONLY = mkdtempSync(join(parent, 'one-slot-'));
}
