import type { Cluster, Redis } from 'ioredis';

import { StoreError } from './store-error.js';

const MOST_KEYS = 2;

const troubles = new WeakMap<Redis | Cluster, Error>();

/** Keeps why a connection was lost: a command that waited for it fails without the reason. */
export function noteTroubles(redis: Redis | Cluster): void {
  // A cluster's own error says only that no node answered, so a refusal is not replaced by it.
  const note = (error: Error): void => {
    if (explain(error)) troubles.set(redis, error);
  };
  redis.on('error', note);
  redis.on('node error', note);
  redis.on('sentinelError', note);
  redis.on('ready', () => void troubles.delete(redis));
}

/**
 * What an operator has to change in a Redis's users, certificates or data, or in its URL, without a password; null for any
 * other error, such as an outage, which waiting may mend.
 * @param redis the connection on which it failed
 */
export function explainRedisRefusal(error: unknown, redis: Redis | Cluster): StoreError | null {
  // A cluster's own client follows it.
  if (!redis.isCluster && error instanceof Error && /\bMOVED \d/.test(error.message)) {
    const hint = 'Put redis+cluster:// in place of redis:// in the URL, or rediss+cluster:// in place of rediss://.';
    return new StoreError('redis_is_cluster', 'This Redis is a node of a cluster.', hint);
  }
  const trouble = troubles.get(redis);
  return (error instanceof Error ? explain(error) : null) ?? (trouble ? explain(trouble) : null);
}

/** @throws StoreError for a refusal, the error itself for anything else */
export async function explainRedisRefusals<T>(redis: Redis | Cluster, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw explainRedisRefusal(error, redis) ?? error;
  }
}

interface RefusedCommand {
  command?: { name: string; args: readonly unknown[] };
}

function explain(error: Error): StoreError | null {
  const { message } = error;
  if (/\bWRONGPASS\b/.test(message)) {
    return new StoreError(
      'redis_wrong_password',
      'Redis does not know this user and password.',
      'Correct them in the URL: redis://user:password@host, percent-encoded.',
    );
  }
  if (/\bNOAUTH\b/.test(message)) {
    return new StoreError(
      'redis_password_missing',
      'Redis asks for a user and a password.',
      'Put them into the URL: redis://user:password@host, percent-encoded.',
    );
  }
  if (/\bNOPERM\b|ACL failure in script/.test(message)) {
    return new StoreError(
      'redis_permission_missing',
      `Redis does not let this user run ${describeCommand(error as RefusedCommand)}: ${message.replace(/ script: .*/s, '')}.`,
      'Give the user the rules of its process, which are in deploy/redis.',
    );
  }
  if (/\bWRONGTYPE\b/.test(message)) {
    return new StoreError(
      'redis_wrong_type',
      `This Redis holds data of something else: ${describeCommand(error as RefusedCommand)} failed with WRONGTYPE.`,
      'Give Tollgate a Redis, or a database of one, that nothing else uses.',
    );
  }
  if (/certificate/i.test(message)) {
    return new StoreError(
      'redis_certificate_refused',
      `The certificate of this Redis is not accepted: ${message.trim().replace(/[.:]$/, '')}.`,
      'Renew it, name the host as the certificate does, or name the file of its authority in NODE_EXTRA_CA_CERTS.',
    );
  }
  return null;
}

/** Name and keys. Further arguments may be secrets. */
function describeCommand({ command }: RefusedCommand): string {
  if (command === undefined) return 'a command';
  const keys = command.args.map(String).filter((text) => /^tollgate:[\w:{}.-]{1,200}$/.test(text));
  const shown = keys.length > MOST_KEYS ? [...keys.slice(0, MOST_KEYS), '…'] : keys;
  return `${command.name.toUpperCase()}${shown.length > 0 ? ` on ${shown.join(', ')}` : ''}`;
}
