import { isLaneKey, restoreLane } from '@tollgate/journal';
import { isBirthKey, restoreBirth } from '@tollgate/ledger';
import { listPrimaries, RESTORE_MARKER, type RedisClient } from '@tollgate/redis';

import type { RedisKeyRecord } from './backup-format.js';
import type { Progress } from './progress.js';
import type { Inspected, WholeBackup } from './read-backup-file.js';
import { PATTERN, scanKeys } from './which-keys.js';

export interface PutTerms {
  id: string;
  backup: WholeBackup;
  inspected: Inspected;
  progress: Progress;
}

const KEYS_AT_ONCE = 256;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/**
 * Deletes what is there and writes the copy. The marker keeps every process from starting until the end, so an
 * interrupted restore is only ever repeated. Births come first, so that a process which is attached nevertheless finds
 * them in doubt; a lane comes after its jobs.
 */
export async function putBackup(redis: RedisClient, { id, backup, inspected, progress }: PutTerms): Promise<void> {
  await redis.set(RESTORE_MARKER, id);
  for (const primary of listPrimaries(redis)) {
    for await (const keys of scanKeys(primary, PATTERN)) {
      await Promise.all(keys.filter((key) => key !== RESTORE_MARKER).map((key) => redis.unlink(key)));
    }
  }
  for (const { key, value } of inspected.births) await restoreBirth(redis, key, value);
  await putAll(redis, backup, progress);
  for (const lane of inspected.lanes) await restoreLane(redis, lane);
  await redis.del(RESTORE_MARKER);
}

async function putAll(redis: RedisClient, backup: WholeBackup, progress: Progress): Promise<void> {
  let [batch, bytes]: [RedisKeyRecord[], number] = [[], 0];
  for await (const record of backup.records()) {
    if (isBirthKey(record.key) || isLaneKey(record.key)) continue;
    batch.push(record);
    bytes += record.value.length;
    progress.count();
    if (batch.length < KEYS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    await putBatch(redis, batch);
    [batch, bytes] = [[], 0];
  }
  await putBatch(redis, batch);
}

/** Replaces, because a scan may have found a key twice. A key that has expired by now is not created. */
async function putBatch(redis: RedisClient, batch: readonly RedisKeyRecord[]): Promise<void> {
  await Promise.all(
    batch.map(({ key, value, expiresAtMs }) => redis.restore(key, expiresAtMs ?? 0, value, 'REPLACE', 'ABSTTL')),
  );
}
