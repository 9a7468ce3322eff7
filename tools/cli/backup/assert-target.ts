import { REFUSED_STREAM } from '@tollgate/ledger';
import { listPrimaries, RESTORE_MARKER, type RedisClient } from '@tollgate/redis';

import { CommandError } from '../shared/cli-command.js';
import { readHalfRestored, readServers } from './read-servers.js';
import { PATTERN, scanKeys } from './which-keys.js';

export interface TargetTerms {
  /** The copy. */
  id: string;
  redisVersion: string;
  probes: readonly Buffer[];
  /** Whether the data of the target may be deleted. */
  replaces: boolean;
}

const LISTED_CLIENTS = 10;

/**
 * Writes nothing.
 * @throws CommandError for a target with processes, with data that may not be deleted, or that cannot read the copy
 */
export async function assertTarget(redis: RedisClient, terms: TargetTerms): Promise<{ canSeeClients: boolean }> {
  const { redisVersion } = await readServers(redis);
  const clients = await findProcesses(redis);
  if (clients !== null && clients.length > 0) {
    const named = [...new Set(clients)].sort().slice(0, LISTED_CLIENTS).join(', ');
    throw new CommandError(
      `Processes are connected to this Redis: ${named}. Stop all gateways, verifiers, agent workers and bookkeepers.`,
    );
  }
  await assertEmpty(redis, terms);
  for (const probe of terms.probes) await assertReadable(redis, probe, { from: terms.redisVersion, to: redisVersion });
  return { canSeeClients: clients !== null };
}

/** The names of the connections of running processes; null where this user may not list them. */
async function findProcesses(redis: RedisClient): Promise<string[] | null> {
  try {
    const lists = await Promise.all(listPrimaries(redis).map((primary) => primary.client('LIST')));
    return lists.flatMap((list) =>
      [...String(list).matchAll(/ name=tollgate-([^ \n]+)/g)].map(([, name = '']) => name),
    );
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOPERM')) return null;
    throw error;
  }
}

async function assertEmpty(redis: RedisClient, { id, replaces }: TargetTerms): Promise<void> {
  const half = await readHalfRestored(redis);
  if (replaces || half === id) return;
  if (half !== null) {
    throw new CommandError('This Redis holds a part of another backup. Restore that one, or add --replace.');
  }
  for (const primary of listPrimaries(redis)) {
    for await (const keys of scanKeys(primary, PATTERN)) if (keys.length > 0) throw await describeData(redis);
  }
}

async function describeData(redis: RedisClient): Promise<CommandError> {
  const refused = await redis.xlen(REFUSED_STREAM);
  const save =
    refused === 0 ? '' : ` Its ${refused} refused payments are deleted: save tollgate payments refused first.`;
  return new CommandError(`This Redis has data of Tollgate. Add --replace to delete it and restore the copy.${save}`);
}

/** RESTORE checks the value, and creates no key that has expired already. */
async function assertReadable(
  redis: RedisClient,
  probe: Buffer,
  { from, to }: { from: string; to: string },
): Promise<void> {
  try {
    await redis.restore(`${RESTORE_MARKER}:probe`, 1, probe, 'ABSTTL');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      /DUMP payload version/.test(reason)
        ? `The copy was made of Redis ${from}, whose data Redis ${to} cannot read. Restore into the same or a later version.`
        : `This Redis does not take the copy: ${reason}`,
    );
  }
}
