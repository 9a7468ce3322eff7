import type { RedisClient } from '@tollgate/redis';

import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findRedisUrl } from '../shared/find-place.js';
import { formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';
import { assertTarget } from './assert-target.js';
import { formatCounts } from './backup-format.js';
import { Progress } from './progress.js';
import { putBackup } from './put-backup.js';
import { inspectBackup, type Inspected, readBackupFile, type WholeBackup } from './read-backup-file.js';

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
    return withRedis(findRedisUrl(options.redis, env), (redis) =>
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
- API keys, webhooks and pauses are those of the copy: revoke, remove and pause again.`;
