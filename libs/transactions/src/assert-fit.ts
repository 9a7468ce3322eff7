import type { Cluster, Redis } from 'ioredis';

import { JournalError } from './journal-error.js';

/** The servers that hold the journal: a cluster's primaries, or the one. */
export function listServers(redis: Redis | Cluster): Redis[] {
  return redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
}

/**
 * Refuses a server that would forget jobs by itself; tells whether it keeps every write it acknowledges.
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
      `Redis evicts keys when memory is short (maxmemory-policy ${policy}): a forgotten job could be sent again.`,
      'Set maxmemory-policy to noeviction, or give the journal a Redis of its own.',
    );
  }
  if (field('aof_enabled') !== '1') return false;
  // Managed services refuse CONFIG: then nothing is known, and a restart counts as a loss.
  const fsync = await server.config('GET', 'appendfsync').catch(() => null);
  return Array.isArray(fsync) && fsync[1] === 'always';
}
