import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import { CopyRefusedError, restoreBook, verifyBook, type BookWriter } from '@tollgate/book';
import { ConfigurationError } from '@tollgate/common';

/**
 * Writes the copy of BOOK_RESTORE into an empty book. Returns what to log.
 * @throws ConfigurationError for a file that is no whole copy; then nothing was written
 */
export async function restoreCopy(writer: BookWriter, file: string): Promise<string> {
  try {
    const copy = await restoreBook(writer, readLines(file));
    if (copy === null) return `${file} was not restored: the book is not empty. Remove BOOK_RESTORE.`;
    const { broken } = await verifyBook(writer.database, []);
    const state = broken === null ? 'The restored book is whole' : `The copy was broken already: ${broken}`;
    return `${file} is restored: ${copy.lastBooking} bookings, as of ${copy.at}. ${state}. Remove BOOK_RESTORE.`;
  } catch (error) {
    const { code = '', path } = Object(error) as NodeJS.ErrnoException;
    if (!(error instanceof CopyRefusedError) && path === undefined) throw error;
    throw new ConfigurationError([
      `BOOK_RESTORE: ${file} cannot be restored: ${error instanceof CopyRefusedError ? error.message : code}`,
    ]);
  }
}

/** Opened when the first line is asked for: lines that come before anyone iterates are lost. */
async function* readLines(file: string): AsyncGenerator<string> {
  const handle = await open(file);
  const input = handle.createReadStream({ encoding: 'utf8' });
  try {
    yield* createInterface({ input, crlfDelay: Infinity });
  } finally {
    // Closes the file too, when a refused copy is not read to its end.
    input.destroy();
  }
}
