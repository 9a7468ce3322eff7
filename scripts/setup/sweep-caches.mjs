// Deletes what no process has read for two weeks from the folders of .tollgate that keep every version: compiled sources,
// contracts and chain states.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_DAYS = 14;

/** At most once a day. */
export function sweepCaches(root) {
  const folder = join(root, '.tollgate');
  const marker = join(folder, 'swept');
  if (ageMs(marker) < DAY_MS) return;
  for (const cache of ['cache', 'compiled']) {
    for (const file of listFiles(join(folder, cache)))
      if (ageMs(file) > KEPT_DAYS * DAY_MS) rmSync(file, { force: true });
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(marker, '');
}

/** Since the file was last read or written; a file system notes a read at least once a day. */
function ageMs(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) : Infinity;
}

function listFiles(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  } catch {
    return [];
  }
}
