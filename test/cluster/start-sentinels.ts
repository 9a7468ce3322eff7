import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { findRedisServer } from '../../scripts/setup/find-redis-server.mjs';
import { startChild, type Child } from '../../tools/devnet/processes/child-process.js';
import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { repositoryRoot } from '../../tools/devnet/processes/repository.js';
import { waitFor } from '../harness/retry.js';

const NAME = 'tollgate';
const [USER, WATCHWORD] = ['seller', 'canary-watchword'];
export const SENTINEL_GROUP_PASSWORD = 'canary-password';

export interface SentinelGroup {
  /** As an ACL user, through Sentinels with a password of their own. */
  url: string;
  sentinels: Child[];
  sentinelPorts: number[];
  primary: RedisServer;
  replica: RedisServer;
  /** The port of the primary that all Sentinels name; null while they differ. */
  readNamedPort(): Promise<number | null>;
  /** Until the replica has been promoted and the Sentinels name it. */
  isSwitched(): Promise<boolean>;
  stop(): Promise<void>;
}

/** A primary with a replica, and three Sentinels that replace the primary when it is silent for a second. */
export async function startSentinels(): Promise<SentinelGroup> {
  const acl = ['--requirepass', SENTINEL_GROUP_PASSWORD, '--masterauth', SENTINEL_GROUP_PASSWORD];
  const timing = ['--repl-diskless-sync-delay', '0'];
  const args = [...acl, ...timing, '--user', USER, 'on', `>${SENTINEL_GROUP_PASSWORD}`, '~*', '&*', '+@all'];
  const primary = await startRedis({ args });
  const following = ['--replicaof', '127.0.0.1', String(primary.port)];
  const replica = await startRedis({ args: [...args, ...following] });
  const sentinels: Child[] = [];
  const sentinelPorts: number[] = [];
  for (let index = 0; index < 3; index++) {
    const port = await findFreePort();
    sentinels.push(await startSentinel(port, join(primary.dir, `sentinel-${index}`), primary.port));
    sentinelPorts.push(port);
  }
  const ask = async (port: number, ...words: string[]): Promise<unknown> => {
    const redis = new Redis({ port, password: WATCHWORD, retryStrategy: () => null, replyMapping: 'legacy' });
    redis.on('error', () => undefined);
    return redis.call('SENTINEL', words).finally(() => redis.disconnect());
  };
  for (const port of sentinelPorts) {
    await waitFor('each Sentinel knows the replica and the others', async () => {
      const [replicas, others] = [await ask(port, 'replicas', NAME), await ask(port, 'sentinels', NAME)];
      return (replicas as unknown[]).length === 1 && (others as unknown[]).length === 2;
    });
  }
  const readNamedPort = async (): Promise<number | null> => {
    const named = await Promise.all(sentinelPorts.map((port) => ask(port, 'get-master-addr-by-name', NAME)));
    const ports = new Set(named.map((address) => Number((address as string[])[1])));
    return ports.size === 1 ? ([...ports][0] ?? null) : null;
  };
  const hosts = sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',');
  return {
    url: `redis+sentinel://${USER}:${SENTINEL_GROUP_PASSWORD}@${hosts}/${NAME}?sentinelPassword=${WATCHWORD}`,
    sentinels,
    sentinelPorts,
    primary,
    replica,
    readNamedPort,
    isSwitched: async () => (await readNamedPort()) === replica.port,
    stop: async () => {
      for (const sentinel of sentinels) await sentinel.end('SIGKILL');
      for (const server of [replica, primary]) await server.stop();
    },
  };
}

async function startSentinel(port: number, dir: string, watchedPort: number): Promise<Child> {
  mkdirSync(dir);
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, `requirepass ${WATCHWORD}`],
    `sentinel sentinel-pass ${WATCHWORD}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${watchedPort} 2`,
    `sentinel auth-pass ${NAME} ${SENTINEL_GROUP_PASSWORD}`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  writeFileSync(join(dir, 'sentinel.conf'), `${lines.join('\n')}\n`);
  const program = findRedisServer(repositoryRoot());
  if (!program) throw new Error('There is no Valkey, nor a Redis of version 7.2 or newer.');
  const sentinel = await startChild({
    name: `sentinel ${port}`,
    command: program.command,
    args: [join(dir, 'sentinel.conf'), '--sentinel'],
    env: { ...process.env, ...program.environment },
  });
  await sentinel.waitForLine(/Sentinel ID is/, 30_000);
  return sentinel;
}
