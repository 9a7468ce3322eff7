import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import type { CopyEnd } from '@tollgate/book';

import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import { CommandError } from '../shared/cli-command.js';

/**
 * Saves the bookkeeper's copy of the book in a new file that only its owner may read. Returns its number of rows.
 * @throws CommandError also when the copy ends too early; then there is no file
 */
export async function saveBook(path: string, place: OperatorPlace, env: NodeJS.ProcessEnv): Promise<number> {
  const part = `${path}.part`;
  if (existsSync(path)) throw new CommandError(`${path} exists, and a backup replaces no file. Choose another name.`);
  let file: number;
  try {
    file = openSync(part, 'wx', 0o600);
  } catch (error) {
    throw new CommandError(`${part} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
  }
  try {
    let lastLines = '';
    await new OperatorApi(place, env).print('/operator/backup', (text) => {
      writeAll(file, part, text);
      lastLines = (lastLines + text).split('\n').slice(-2).join('\n');
    });
    const rows = parseEnd(lastLines.trimEnd().split('\n').at(-1) ?? '');
    fsyncSync(file);
    renameSync(part, path);
    return rows;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** A disk that is nearly full takes a part of the text: `writeFileSync` goes on until it has all, or fails. */
function writeAll(file: number, path: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`${path} could not be written (${code}), and was removed. Free space and repeat.`);
  }
}

function parseEnd(line: string): number {
  try {
    const { rows, sha256 } = JSON.parse(line) as CopyEnd;
    if (typeof rows === 'number' && typeof sha256 === 'string') return rows;
  } catch {
    // Reported below.
  }
  throw new CommandError('The bookkeeper ended while it was copying the book: the copy is not complete.');
}
