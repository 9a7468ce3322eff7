import type { Random } from '../harness/random.js';
import { findPrimaries, type Node } from './servers.js';
import { CLUSTER_PASSWORD } from './start-cluster.js';

const SLOTS_WITH_KEYS = 6;
const EMPTY_SLOTS = 4;
/** As redis-cli does it. */
const KEYS_AT_ONCE = 10;
const MIGRATE_WITHIN_MS = 5_000;

interface Move {
  from: Node;
  to: Node;
  random: Random;
}

/** Moves some slots at random, those with keys preferred, as `redis-cli --cluster reshard` does it. */
export async function moveSlots(nodes: readonly Node[], { from, to, random }: Move) {
  const owned = await readSlots(from);
  const keysHere = await from.redis.keys('*');
  const used = new Set(await Promise.all(keysHere.map((key) => from.redis.cluster('KEYSLOT', key).then(Number))));
  const empty = random.shuffle(owned.filter((slot) => !used.has(slot)));
  const slots = random.shuffle([
    ...random.shuffle([...used]).slice(0, SLOTS_WITH_KEYS),
    ...empty.slice(0, EMPTY_SLOTS),
  ]);
  const primaries = await findPrimaries(nodes);
  let keys = 0;
  for (const slot of slots) keys += await moveSlot(primaries, slot, { from, to });
  return { slots: slots.length, keys };
}

async function readSlots({ server, redis }: Node): Promise<number[]> {
  const ranges = (await redis.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
  return ranges
    .filter(([, , [, port]]) => port === server.port)
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

/** Returns the number of keys. */
async function moveSlot(primaries: readonly Node[], slot: number, { from, to }: Omit<Move, 'random'>): Promise<number> {
  const [fromId, toId] = await Promise.all([from, to].map(async ({ redis }) => String(await redis.cluster('MYID'))));
  await to.redis.cluster('SETSLOT', slot, 'IMPORTING', fromId ?? '');
  await from.redis.cluster('SETSLOT', slot, 'MIGRATING', toId ?? '');
  let moved = 0;
  for (;;) {
    const keys = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE)) as string[];
    if (keys.length === 0) break;
    const target = ['127.0.0.1', to.server.port, '', 0, MIGRATE_WITHIN_MS, 'AUTH', CLUSTER_PASSWORD];
    await from.redis.call('MIGRATE', ...target, 'KEYS', ...keys);
    moved += keys.length;
  }
  // The new owner first: otherwise a client could be sent to and fro.
  await to.redis.cluster('SETSLOT', slot, 'NODE', toId ?? '');
  const others = primaries.filter((node) => node !== to);
  await Promise.all(others.map(({ redis }) => redis.cluster('SETSLOT', slot, 'NODE', toId ?? '')));
  return moved;
}
