import { isLaneKey } from '@tollgate/journal';
import { isBirthKey } from '@tollgate/ledger';

import type { BackupSummary, RedisKeyRecord } from './backup-format.js';
import type { WholeBackup } from './read-backup-file.js';

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
