import { setTimeout as sleep } from 'node:timers/promises';

import { Cluster, Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';

export const SLOTS = 16384;
const SERVERS = 3;

export interface StartedCluster {
  readonly cluster: Cluster;
  stop(): Promise<void>;
}

/** A Redis cluster of three servers without replicas. */
export async function startCluster(): Promise<StartedCluster> {
  const servers: RedisServer[] = [];
  for (let index = 0; index < SERVERS; index++) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }));
  const nodes = servers.map(({ url }) => new Redis(url));
  await Promise.all(
    nodes.map((node, index) => {
      const [from, to] = [Math.floor((index * SLOTS) / SERVERS), Math.floor(((index + 1) * SLOTS) / SERVERS) - 1];
      return node.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
    }),
  );
  for (const { port } of servers.slice(1)) await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port);
  for (const node of nodes) {
    while (!(await node.cluster('INFO')).includes('cluster_state:ok')) await sleep(50);
    while (((await node.cluster('SLOTS')) as unknown[]).length < SERVERS) await sleep(50);
    node.disconnect();
  }
  const cluster = new Cluster(
    servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    { redisOptions: { maxRetriesPerRequest: null } },
  );
  cluster.on('error', () => undefined);
  const stop = async (): Promise<void> => {
    cluster.disconnect();
    for (const server of servers) await server.stop();
  };
  return { cluster, stop };
}
