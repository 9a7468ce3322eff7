import type { Cluster, Redis } from 'ioredis';

import type { LuaScript } from './lua-script.js';
import { StoreError } from './store-error.js';
import { warnOnce } from './warn-once.js';

/** What shows that a server is another one than before, or has restarted. */
const SHOWS_FAILOVERS = ['redis_version', 'run_id', 'role', 'master_replid', 'master_replid2'];
const OLDEST_WITH_WAITAOF = [7, 2] as const;

/** Exists while a backup is being restored, and after that was interrupted. */
export const RESTORE_MARKER = 'tollgate:{restore}';

/** What a store says about a Redis that would drop its data. */
export interface StoreNeeds {
  /** Such as `ledger`. */
  store: string;
  /** What an evicted key would lead to, as a sentence. */
  eviction: string;
  /** Whether replicas must acknowledge its writes. */
  isAcknowledged?: boolean;
}

/**
 * Refuses servers that would drop data by themselves, or that hold a part of a backup. Returns whether every write that
 * they acknowledge is on disk.
 * @throws StoreError when Redis is unfit; the driver's errors when it does not answer
 */
export async function checkServers(redis: Redis | Cluster, needs: StoreNeeds): Promise<boolean> {
  const durable = await Promise.all((await reachPrimaries(redis)).map((server) => checkServer(server, needs)));
  if (durable.includes(null)) {
    const worse = 'each restart of it counts as a loss of data, after which payments and jobs are held back';
    warnOnce(redis, `this Redis does not show appendfsync by CONFIG GET, so ${worse}`);
  }
  if ((await redis.exists(RESTORE_MARKER)) === 1) {
    throw new StoreError(
      'redis_half_restored',
      'This Redis holds a part of a backup: its restore has not ended.',
      'Run tollgate restore with the same file again.',
    );
  }
  return durable.every(Boolean);
}

export async function loadScripts(redis: Redis | Cluster, scripts: readonly LuaScript[]): Promise<void> {
  await Promise.all(
    (await reachPrimaries(redis)).flatMap((server) => scripts.map(({ lua }) => server.script('LOAD', lua))),
  );
}

/** A cluster that is not connected yet knows no primaries: without this it would pass every check. */
async function reachPrimaries(redis: Redis | Cluster): Promise<Redis[]> {
  if (redis.isCluster && redis.status !== 'ready') await redis.ping();
  return listPrimaries(redis);
}

/** The known primaries of a cluster, or the single server. */
export function listPrimaries(redis: Redis | Cluster): Redis[] {
  return redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
}

/** Whether every acknowledged write is on disk; null where the server does not show it. */
async function checkServer(server: Redis, needs: StoreNeeds): Promise<boolean | null> {
  const { store, eviction, isAcknowledged = false } = needs;
  const info = await server.info();
  const field = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const version = field('redis_version');
  const hidden = [...SHOWS_FAILOVERS, ...(isAcknowledged ? ['connected_slaves'] : [])].filter((name) => !field(name));
  if (hidden.length > 0) {
    throw new StoreError(
      'redis_hides_failovers',
      `This Redis hides ${hidden.join(', ')} from INFO: a restart or failover that loses data could not be noticed.`,
      `Give the ${store} a Redis or Valkey whose INFO shows them.`,
    );
  }
  if (Number.parseInt(version, 10) < 7) {
    throw new StoreError('redis_too_old', `Redis ${version} is too old.`, 'Use Redis or Valkey 7+.');
  }
  // Its scripts would write times in milliseconds as 32 bits.
  if (field('arch_bits') === '32') {
    throw new StoreError('redis_32_bits', 'This Redis is built for 32 bits.', 'Use a 64-bit build of Redis or Valkey.');
  }
  if (isAcknowledged && isBefore(version, OLDEST_WITH_WAITAOF)) {
    throw new StoreError(
      'redis_without_waitaof',
      `Redis ${version} has no WAITAOF, by which LEDGER_DURABILITY=replica waits for the replicas.`,
      'Use Redis 7.2 or later, or Valkey, or set LEDGER_DURABILITY=local.',
    );
  }
  if (isAcknowledged && field('aof_enabled') !== '1') {
    throw new StoreError(
      'redis_without_file',
      'This Redis has no append-only file, which LEDGER_DURABILITY=replica waits for.',
      'Set appendonly yes and appendfsync always on every server, or set LEDGER_DURABILITY=local.',
    );
  }
  if (field('role') !== 'master') {
    throw new StoreError('redis_read_only', 'This Redis is a replica.', 'Point REDIS_URL at the primary.');
  }
  const policy = field('maxmemory_policy') || (await readSetting(server, 'maxmemory-policy'));
  if (policy !== 'noeviction') {
    const shown = policy === null ? 'it does not show its maxmemory-policy' : `maxmemory-policy ${policy}`;
    throw new StoreError(
      'redis_evicts',
      `This Redis ${policy === null ? 'may evict' : 'evicts'} keys when memory is short (${shown}). ${eviction}`,
      `Set maxmemory-policy to noeviction, or give the ${store} a Redis of its own.`,
    );
  }
  if (field('aof_enabled') !== '1') return false;
  const fsync = await readSetting(server, 'appendfsync');
  return fsync === null ? null : fsync === 'always';
}

/** Null where the server does not show it: managed services refuse CONFIG. */
async function readSetting(server: Redis, name: string): Promise<string | null> {
  const found = await server.config('GET', name).catch(() => null);
  return Array.isArray(found) && typeof found[1] === 'string' ? found[1] : null;
}

function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}
