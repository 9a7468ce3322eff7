import type { Redis } from 'ioredis';

/** The number of slots of a Redis Cluster. */
const SLOTS = 16_384;

/** Gives each server, none of which has slots yet, its share of them. */
export async function assignSlots(servers: readonly Redis[]): Promise<void> {
  const firstOf = (index: number) => Math.floor((index * SLOTS) / servers.length);
  await Promise.all(
    servers.map((server, index) => server.call('CLUSTER', 'ADDSLOTSRANGE', firstOf(index), firstOf(index + 1) - 1)),
  );
}

/** Introduces another server to the cluster of this one. */
export async function meet(known: Redis, newcomer: Redis): Promise<void> {
  const [port, bus] = await Promise.all(
    ['port', 'cluster-port'].map(async (name) => (await newcomer.config('GET', name))[1]),
  );
  await known.call('CLUSTER', 'MEET', '127.0.0.1', port ?? '', bus ?? '');
}
