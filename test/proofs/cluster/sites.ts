import { createNode, type Node } from '../../cluster/servers.js';
import { CLUSTER_PASSWORD, startCluster } from '../../cluster/start-cluster.js';
import { SENTINEL_GROUP_PASSWORD, startSentinels } from '../../cluster/start-sentinels.js';

/** The servers of Redis that the services use. */
export interface Site {
  url: string;
  nodes: Node[];
  /** Whether clients and other servers see one primary for each key. */
  isOk(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Three primaries with a replica each. */
export async function startClusterSite(): Promise<Site> {
  const cluster = await startCluster();
  const nodes = [...cluster.primaries, ...cluster.replicas].map((server) => createNode(server, CLUSTER_PASSWORD));
  return {
    url: cluster.url,
    nodes,
    isOk: async () => {
      const states = await Promise.all(nodes.map(({ redis }) => redis.cluster('INFO').catch(() => '')));
      return states.every((state) => state.includes('cluster_state:ok'));
    },
    stop: async () => {
      for (const { redis } of nodes) redis.disconnect();
      await cluster.stop();
    },
  };
}

/** One primary with a replica, and three Sentinels. */
export async function startSentinelSite(): Promise<Site> {
  const group = await startSentinels();
  const nodes = [group.primary, group.replica].map((server) => createNode(server, SENTINEL_GROUP_PASSWORD));
  return {
    url: group.url,
    nodes,
    isOk: async () => (await group.readNamedPort()) !== null,
    stop: async () => {
      for (const { redis } of nodes) redis.disconnect();
      await group.stop();
    },
  };
}
