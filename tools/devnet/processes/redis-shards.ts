import { setTimeout as sleep } from 'node:timers/promises';

import { Cluster, Redis } from 'ioredis';

import { assignSlots, meet } from './cluster-servers.js';
import { startRedis, type RedisServer } from './redis.js';

export interface RedisShards {
  /** As services take it. */
  url: string;
  servers: RedisServer[];
  cluster: Cluster;
  stop(): Promise<void>;
}

/** A Redis Cluster of so many primaries, each with its share of the slots, without replicas. */
export async function startRedisShards(count = 3): Promise<RedisShards> {
  const servers: RedisServer[] = [];
  // Without it a server does not know its own address until another one tells it.
  const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  for (let index = 0; index < count; index++) servers.push(await startRedis({ args }));
  const nodes = servers.map(({ url }) => new Redis(url));
  await assignSlots(nodes);
  const [first, ...others] = nodes;
  if (first) for (const other of others) await meet(first, other);
  for (const node of nodes) {
    while (!(await node.cluster('INFO')).includes('cluster_state:ok')) await sleep(50);
    while (((await node.cluster('SLOTS')) as unknown[]).length < count) await sleep(50);
    node.disconnect();
  }
  const cluster = new Cluster(
    servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    { redisOptions: { maxRetriesPerRequest: null } },
  );
  cluster.on('error', () => undefined);
  return {
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    servers,
    cluster,
    stop: async () => {
      cluster.disconnect();
      for (const server of servers) await server.stop();
    },
  };
}
