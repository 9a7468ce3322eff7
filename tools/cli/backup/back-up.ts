import { createHash, randomBytes } from 'node:crypto';

import type { CopyEnd } from '@tollgate/book';
import type { RedisClient } from '@tollgate/redis';

import { OperatorApi, type OperatorPlace } from '../book/operator-api.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findRedisPlace } from '../shared/find-place.js';
import { formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';
import {
  encodeKey,
  encodeStart,
  encodeSummary,
  formatCounts,
  type BackupCounts,
  type BackupHeader,
} from './backup-format.js';
import { copyServers } from './copy-servers.js';
import { Progress } from './progress.js';
import { readHalfRestored, readServers } from './read-servers.js';
import { countKey } from './which-keys.js';
import { writeNewFile, type NewFile } from './write-new-file.js';

export interface BackupOptions extends OperatorPlace {
  redis?: string;
  /** Also copies the book, into `<file>.book`. */
  book?: true;
}

/** Copies the ledger and the journal into a new file, while the processes go on. */
export async function backUp(
  path: string,
  options: BackupOptions,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<CommandResult> {
  const copied = await writeNewFile(path, (file) =>
    withRedis(findRedisPlace(options.redis, env), (redis) => copyInto(file, redis, new Progress('copied', say))),
  );
  const { startedAtMs, counts, bytes } = copied;
  const text = [
    `${path}: ${formatCounts(counts)}, ${bytes} bytes.`,
    `It has what was written before ${formatTime(startedAtMs)}; what was answered later may be missing.`,
  ].join('\n');
  if (options.book !== true) return { json: { file: path, ...copied }, text };
  // After Redis: what Redis no longer has to report is in this copy.
  const rows = await saveBook(`${path}.book`, options, env);
  return {
    json: { file: path, ...copied, book: { file: `${path}.book`, rows } },
    text: `${text}\n${path}.book: ${rows} rows of the book. Restore both, or this one with BOOK_RESTORE alone.`,
  };
}

async function copyInto(
  file: NewFile,
  redis: RedisClient,
  progress: Progress,
): Promise<BackupHeader & { endedAtMs: number; counts: BackupCounts; bytes: number }> {
  const before = await readServers(redis);
  if ((await readHalfRestored(redis)) !== null) {
    throw new CommandError(
      'This Redis holds a part of a backup: its restore has not ended. Run tollgate restore first.',
    );
  }
  const hash = createHash('sha256');
  const write = (parts: readonly Buffer[]): Promise<void> => {
    for (const part of parts) hash.update(part);
    return file.write(parts);
  };
  const header = { id: randomBytes(8).toString('hex'), startedAtMs: before.nowMs, redisVersion: before.redisVersion };
  await write([encodeStart(header)]);
  const counts: BackupCounts = { payments: 0, answers: 0, lanes: 0, jobs: 0, keys: 0 };
  for await (const copy of copyServers(redis)) {
    countKey(counts, copy.key);
    await write(encodeKey(copy));
    progress.count();
  }
  const after = await readServers(redis);
  if (after.layout !== before.layout) {
    throw new CommandError('A server of this Redis was restarted or replaced, or slots moved. Repeat the backup.');
  }
  await write(encodeSummary({ endedAtMs: after.nowMs, counts }));
  const { bytes } = file;
  await file.write([hash.digest()]);
  return { ...header, endedAtMs: after.nowMs, counts, bytes };
}

/**
 * Saves the bookkeeper's copy of the book in a new file. Returns its number of rows.
 * @throws CommandError also when the copy ends too early; then there is no file
 */
function saveBook(path: string, place: OperatorPlace, env: NodeJS.ProcessEnv): Promise<number> {
  return writeNewFile(path, async (file) => {
    let lastLines = '';
    for await (const text of new OperatorApi(place, env).readParts('GET /operator/backup', {})) {
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
