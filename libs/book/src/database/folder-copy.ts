import { constants } from 'node:fs';
import { cp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

import { NoSpaceError } from './database.js';

const MEGABYTE = 1_048_576;
/** What stays free beside a copy, so that the book itself can be written. */
const LEFT_FREE = 64 * MEGABYTE;

/**
 * Copies a folder with all that is in it; where the file system shares blocks between files, at once.
 * @throws NoSpaceError before anything is written
 */
export async function copyFolder(from: string, to: string, leftFree = LEFT_FREE): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  const needed = sizes.reduce((sum, size) => sum + size, leftFree);
  const { bavail, bsize } = await statfs(from);
  if (bavail * bsize < needed) throw new NoSpaceError(sayWhatIsMissing(needed, bavail * bsize));
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

function sayWhatIsMissing(needed: number, free: number): string {
  const [needs, has] = [needed, free].map((bytes) => Math.ceil(bytes / MEGABYTE));
  return `The copy needs ${needs} MB on the disk of the book for as long as it is read, and ${has} MB are free.`;
}
