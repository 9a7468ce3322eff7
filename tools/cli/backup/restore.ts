import { isLaneKey, restoreLane } from '@tollgate/journal';
import { isBirthKey, restoreBirth } from '@tollgate/ledger';
import { listPrimaries, RESTORE_MARKER, type RedisClient } from '@tollgate/redis';

import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findRedisPlace } from '../shared/find-place.js';
import { formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';
import { assertTarget } from './assert-target.js';
import { formatCounts, type RedisKeyRecord } from './backup-format.js';
import { Progress } from './progress.js';
import { inspectBackup, readBackupFile, type Inspected, type WholeBackup } from './read-backup-file.js';
import { PATTERN, scanKeys } from './which-keys.js';

export interface RestoreOptions {
  redis?: string;
  check?: true;
  replace?: true;
}

/** Writes a copy into a Redis that no process uses, after everything that can be checked was checked. */
export function restore(
  path: string,
  options: RestoreOptions,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<CommandResult> {
  return readBackupFile(path, async (backup) => {
    const inspected = await inspectBackup(backup);
    return withRedis(findRedisPlace(options.redis, env), (redis) =>
      restoreInto(redis, { path, backup, inspected, options, say }),
    );
  });
}

interface Restore {
  path: string;
  backup: WholeBackup;
  inspected: Inspected;
  options: RestoreOptions;
  say: (line: string) => void;
}

async function restoreInto(
  redis: RedisClient,
  { path, backup, inspected, options, say }: Restore,
): Promise<CommandResult> {
  const { startedAtMs, redisVersion, id } = backup.header;
  const { counts, endedAtMs } = inspected.summary;
  const target = await assertTarget(redis, {
    id,
    redisVersion,
    probes: inspected.probes,
    replaces: options.replace ?? false,
  });
  if (!target.canSeeClients) say('This user of Redis may not list connections: make sure that no process is running.');
  if (!options.check) {
    try {
      await putBackup(redis, { id, backup, inspected, progress: new Progress('restored', say) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandError(
        `The restore stopped half-way (${reason}). No process starts on this Redis; run it again.`,
      );
    }
  }
  const what = `${path}: ${formatCounts(counts)}, as of ${formatTime(startedAtMs)}`;
  return {
    json: { file: path, id, startedAtMs, endedAtMs, redisVersion, counts, restored: !options.check },
    text: options.check ? `${what}. It can be restored here; nothing was written.` : `${what}. Restored.\n${NEXT}`,
  };
}

const NEXT = `Start the processes. What happened after the copy is in doubt:
- Payments that the copy does not know as spent, and that were made before the first process started, are refused when
  they are presented, and listed by tollgate payments refused: compare each with your logs, then refund or forget it.
- Wallets of agent jobs stay frozen where the chain is ahead of the copy: see tollgate wallets list, find out what was
  sent, have no lost job submitted again before that, then tollgate wallets adopt <name>.
- The book: an empty one takes its copy at the bookkeeper's start, by BOOK_RESTORE; its health then names the gap.
- Jobs that were cancelled or rejected after the copy are open again: run tollgate wallets pause <name> before the agent
  workers start, cancel or reject them again once the wallet is no longer frozen, then resume it.
- API keys, webhooks and pauses are those of the copy: revoke, remove and pause again.`;

interface PutTerms {
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
async function putBackup(redis: RedisClient, { id, backup, inspected, progress }: PutTerms): Promise<void> {
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
