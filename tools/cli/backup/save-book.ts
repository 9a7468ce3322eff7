import type { CopyEnd } from '@tollgate/book';

import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import { CommandError } from '../shared/cli-command.js';
import { writeNewFile } from './write-new-file.js';

/**
 * Saves the bookkeeper's copy of the book in a new file. Returns its number of rows.
 * @throws CommandError also when the copy ends too early; then there is no file
 */
export function saveBook(path: string, place: OperatorPlace, env: NodeJS.ProcessEnv): Promise<number> {
  return writeNewFile(path, async (file) => {
    let lastLines = '';
    for await (const text of new OperatorApi(place, env).readParts('/operator/backup')) {
      await file.write([Buffer.from(text)]);
      lastLines = (lastLines + text).split('\n').slice(-2).join('\n');
    }
    return parseEnd(lastLines.trimEnd().split('\n').at(-1) ?? '');
  });
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
