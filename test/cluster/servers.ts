import { Redis } from 'ioredis';

import type { RedisServer } from '../../tools/devnet/processes/redis.js';
import { waitFor } from '../harness/retry.js';

/** A server of Redis with a connection of an operator. */
export interface Node {
  server: RedisServer;
  /** Reconnects for ever; a command to a server that is down or hangs fails within ten seconds. */
  redis: Redis;
}

export type Role = { kind: 'primary'; replicas: number } | { kind: 'replica'; primaryPort: number; isInStep: boolean };

export function createNode(server: RedisServer, password: string): Node {
  const redis = new Redis({
    port: server.port,
    password,
    commandTimeout: 10_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  redis.on('error', () => undefined);
  return { server, redis };
}

/** As the server sees itself; null while it does not answer. */
async function readRole({ redis }: Node): Promise<Role | null> {
  const reply: unknown[] | null = await redis.role().catch(() => null);
  if (reply === null) return null;
  if (reply[0] === 'master') return { kind: 'primary', replicas: (reply[2] as unknown[]).length };
  return { kind: 'replica', primaryPort: Number(reply[2]), isInStep: reply[3] === 'connected' };
}

/** The nodes that see themselves as primaries, once all answer. */
export async function findPrimaries(nodes: readonly Node[]): Promise<Node[]> {
  let roles: (Role | null)[] = [];
  await waitFor('all servers to answer', async () => {
    roles = await Promise.all(nodes.map(readRole));
    return !roles.includes(null);
  });
  return nodes.filter((_, index) => roles[index]?.kind === 'primary');
}

/** The first replica of the primary, once it has one. */
export async function findReplica(nodes: readonly Node[], { server }: Node): Promise<Node> {
  let found: Node | undefined;
  await waitFor(`a replica of the primary at port ${server.port}`, async () => {
    const roles = await Promise.all(nodes.map(readRole));
    found = nodes.find((_, index) => {
      const role = roles[index];
      return role?.kind === 'replica' && role.primaryPort === server.port;
    });
    return found !== undefined;
  });
  return found!;
}

export function waitUntilPromoted(node: Node): Promise<void> {
  return waitFor('the replica to be promoted', async () => (await readRole(node))?.kind === 'primary');
}

/** Waits until each of the primaries has a replica that is in step, and no server is anything else. */
export function waitUntilWell(nodes: readonly Node[], isOk: () => Promise<boolean>): Promise<void> {
  return waitFor('each primary to have a replica in step', async () => {
    const roles = await Promise.all(nodes.map(readRole));
    const isPaired = roles.every((role) => (role?.kind === 'primary' ? role.replicas > 0 : role?.isInStep));
    return isPaired && (await isOk());
  });
}
