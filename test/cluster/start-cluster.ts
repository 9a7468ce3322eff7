import { readFileSync, writeFileSync } from 'node:fs';

import { Redis } from 'ioredis';

import { assignSlots, meet } from '../../tools/devnet/processes/cluster-servers.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { waitFor } from '../harness/retry.js';
import type { RedisUsers } from '../harness/stack/guarded-redis.js';

const SHARDS = 3;
export const CLUSTER_PASSWORD = 'canary-password';

const RIGHTS = ['on', `>${CLUSTER_PASSWORD}`, '~*', '&*', '+@all'];

export interface StartedCluster {
  /** As an ACL user. */
  url: string;
  /** The primaries at the start; the one at an index holds the slots of that third. */
  primaries: RedisServer[];
  replicas: RedisServer[];
  /** With the users of deploy/redis: the same for one of them. */
  urlOf(user: string): string;
  /** Starts one more server, which knows no other yet. */
  startServer(): Promise<RedisServer>;
  stop(): Promise<void>;
}

/**
 * Three primaries with a replica each, which replaces its primary when that is silent for a second and a half. With
 * `users` they have those of deploy/redis too, and the replicas follow as one of them.
 */
export async function startCluster({ users = null }: { users?: RedisUsers | null } = {}): Promise<StartedCluster> {
  const acl = users === null ? listOwnUsers() : addUsers(users);
  const timing = ['--cluster-node-timeout', '1500', '--repl-diskless-sync-delay', '0'];
  const servers: RedisServer[] = [];
  const startServer = async () => {
    const args = ['--cluster-enabled', 'yes', ...timing, ...acl];
    const server = await startRedis({ args });
    servers.push(server);
    return server;
  };
  for (let index = 0; index < 2 * SHARDS; index++) await startServer();
  const nodes = servers.map(({ port }) => new Redis({ port, password: CLUSTER_PASSWORD }));
  await assignSlots(nodes.slice(0, SHARDS));
  for (const node of nodes) await meet(nodes[0]!, node);
  for (const node of nodes) {
    await waitFor('each server knows the others', async () => {
      return (await node.cluster('INFO')).includes(`cluster_known_nodes:${2 * SHARDS}`);
    });
  }
  for (const [index, replica] of nodes.slice(SHARDS).entries()) {
    await replica.call('CLUSTER', 'REPLICATE', String(await nodes[index]!.call('CLUSTER', 'MYID')));
  }
  for (const node of nodes) {
    await waitFor('each server knows slots and replicas', async () => {
      const slots = (await node.cluster('SLOTS')) as unknown[][];
      return (await node.cluster('INFO')).includes('cluster_state:ok') && slots.every((shard) => shard.length === 4);
    });
  }
  for (const replica of nodes.slice(SHARDS)) {
    await waitFor('each replica is in step', async () =>
      (await replica.info('replication')).includes('master_link_status:up'),
    );
  }
  for (const node of nodes) node.disconnect();
  const [primaries, replicas] = [servers.slice(0, SHARDS), servers.slice(SHARDS)];
  const urlAs = (user: string, password = ''): string =>
    `redis+cluster://${user}:${password}@${primaries.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  return {
    startServer,
    url: urlAs('seller', CLUSTER_PASSWORD),
    urlOf: (user) => urlAs(user, users?.passwordOf(user)),
    primaries,
    replicas,
    stop: async () => {
      for (const server of servers) await server.stop();
    },
  };
}

function listOwnUsers(): string[] {
  const passwords = ['--requirepass', CLUSTER_PASSWORD, '--masterauth', CLUSTER_PASSWORD];
  return [...passwords, '--user', 'seller', ...RIGHTS];
}

/** Adds the seller and the user of the tests to the file. A server takes its users from a file or from arguments only. */
function addUsers({ aclFile, passwordOf }: RedisUsers): string[] {
  const own = ['default', 'seller'].map((user) => ['user', user, ...RIGHTS].join(' '));
  const others = readFileSync(aclFile, 'utf8').replace('user default off\n', '');
  writeFileSync(aclFile, `${[...own, others.trim()].join('\n')}\n`);
  return ['--aclfile', aclFile, '--masteruser', 'replica', '--masterauth', passwordOf('replica')];
}
