import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

import { isLaneKey } from '@tollgate/journal';
import { isBirthKey } from '@tollgate/ledger';

import { CommandError } from '../shared/cli-command.js';
import {
  CHECKSUM_BYTES,
  decodeRecord,
  KIND,
  MAGIC,
  FORMAT_VERSION,
  type BackupHeader,
  type BackupSummary,
  type RedisKeyRecord,
} from './backup-format.js';

const READ_BYTES = 1024 * 1024;
const LONGEST_LINE = 4096;

/** A backup whose checksum was compared. */
export interface WholeBackup {
  header: BackupHeader;
  /** Reads the file once more from the start. */
  records(): AsyncGenerator<RedisKeyRecord, BackupSummary>;
}

/**
 * Opens a backup and compares its checksum, before anything else in it is used.
 * @throws CommandError for a file that is no backup, of a later version, or not whole
 */
export async function readBackupFile<T>(path: string, work: (backup: WholeBackup) => Promise<T>): Promise<T> {
  const handle = await open(path, 'r').catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}`);
  });
  try {
    const { size } = await handle.stat();
    const { header, start } = await readStart(handle, path);
    await assertWhole(handle, path, size);
    return await work({ header, records: () => readRecords(handle, start, size - CHECKSUM_BYTES) });
  } finally {
    await handle.close();
  }
}

async function readStart(handle: FileHandle, path: string): Promise<{ header: BackupHeader; start: number }> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST_LINE), 0, LONGEST_LINE, 0);
  const text = buffer.subarray(0, bytesRead).toString('latin1');
  const version = new RegExp(`^${MAGIC} (\\d{1,9})\n`).exec(text)?.[1];
  if (version === undefined) throw new CommandError(`${path} is not a backup that tollgate backup made.`);
  if (Number(version) > FORMAT_VERSION) {
    throw new CommandError(
      `${path} has format ${version}, and this tollgate reads up to ${FORMAT_VERSION}. Use the release that made it, or a later one.`,
    );
  }
  const [first = '', second = ''] = text.split('\n', 2);
  try {
    return { header: JSON.parse(second) as BackupHeader, start: first.length + second.length + 2 };
  } catch {
    throw damaged(path);
  }
}

async function assertWhole(handle: FileHandle, path: string, size: number): Promise<void> {
  const hash = createHash('sha256');
  for await (const block of readBlocks(handle, 0, size - CHECKSUM_BYTES)) hash.update(block);
  const { buffer, bytesRead } = await handle.read(
    Buffer.alloc(CHECKSUM_BYTES),
    0,
    CHECKSUM_BYTES,
    size - CHECKSUM_BYTES,
  );
  if (!hash.digest().equals(buffer.subarray(0, bytesRead))) throw damaged(path);
}

function damaged(path: string): CommandError {
  return new CommandError(`${path} is cut off or was changed: its checksum is another one. Nothing was written.`);
}

async function* readRecords(
  handle: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<RedisKeyRecord, BackupSummary> {
  const blocks = readBlocks(handle, start, end);
  let rest: Buffer = Buffer.alloc(0);
  const take = async (bytes: number): Promise<Buffer> => {
    while (rest.length < bytes) {
      const { value, done } = await blocks.next();
      if (done) throw new Error('the backup ends in the middle of a record');
      rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    }
    const taken = rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return taken;
  };
  for (;;) {
    const record = await decodeRecord(take);
    if (record.kind === KIND.summary) return record.summary;
    yield record;
  }
}

async function* readBlocks(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void> {
  for (let at = start; at < end;) {
    const block = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
    const { bytesRead } = await handle.read(block, 0, block.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

export interface Inspected {
  summary: BackupSummary;
  births: RedisKeyRecord[];
  lanes: RedisKeyRecord[];
  /** A value of each version of Redis's serialization. */
  probes: Buffer[];
}

/** The few records that are written first or last, which are kept in memory. */
export async function inspectBackup(backup: WholeBackup): Promise<Inspected> {
  const found: Omit<Inspected, 'summary'> = { births: [], lanes: [], probes: [] };
  const versions = new Set<number>();
  const records = backup.records();
  for (;;) {
    const { value, done } = await records.next();
    if (done) return { ...found, summary: value };
    // The buffer belongs to a block of the file.
    const record = (): RedisKeyRecord => ({ ...value, value: Buffer.from(value.value) });
    if (isBirthKey(value.key)) found.births.push(record());
    if (isLaneKey(value.key)) found.lanes.push(record());
    const version = serializationOf(value.value);
    if (!versions.has(version)) found.probes.push(record().value);
    versions.add(version);
  }
}

/** DUMP ends with a version of two bytes and a checksum of eight. */
function serializationOf(value: Buffer): number {
  return value.readUInt16LE(value.length - 10);
}
