import type { Cluster, Redis } from 'ioredis';

import { JournalError } from './journal-error.js';

/** The Redis servers that hold the journal: all primaries of a cluster, or the single server. */
export function listServers(redis: Redis | Cluster): Redis[] {
  return redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
}

/**
 * Refuses a Redis server that would drop jobs by itself. Returns whether every write it acknowledges is already on
 * disk.
 * @throws JournalError when Redis is unfit; the driver's errors when it does not answer.
 */
export async function assertFit(server: Redis): Promise<boolean> {
  const info = await server.info();
  const field = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  if (Number.parseInt(field('redis_version'), 10) < 7) {
    throw new JournalError('redis_too_old', `Redis ${field('redis_version')} is too old.`, 'Use Redis or Valkey 7+.');
  }
  if (field('role') !== 'master') {
    throw new JournalError('redis_read_only', 'This Redis is a replica.', 'Point REDIS_URL at the primary.');
  }
  const policy = field('maxmemory_policy');
  if (policy !== 'noeviction') {
    throw new JournalError(
      'redis_evicts',
      `This Redis evicts keys when memory is short (maxmemory-policy ${policy}). A job it forgets could be sent again.`,
      'Set maxmemory-policy to noeviction, or give the journal a Redis of its own.',
    );
  }
  if (field('aof_enabled') !== '1') return false;
  // Managed services refuse CONFIG. The setting is then unknown, and a restart counts as a loss of data.
  const fsync = await server.config('GET', 'appendfsync').catch(() => null);
  return Array.isArray(fsync) && fsync[1] === 'always';
}
