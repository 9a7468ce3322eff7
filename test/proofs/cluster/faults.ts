import { setTimeout as sleep } from 'node:timers/promises';

import { moveSlots } from '../../cluster/move-slots.js';
import { findPrimaries, findReplica, waitUntilPromoted } from '../../cluster/servers.js';
import type { Random } from '../../harness/random.js';
import type { Site } from './sites.js';

export const KINDS = ['kill', 'zombie', 'takeover', 'reshard', 'sentinel'] as const;
export type Kind = (typeof KINDS)[number];

/** Does one thing to the servers, and what an operator would do after it. Returns what it did, in words. */
type Fault = (site: Site, random: Random) => Promise<string>;

/** Its supervisor starts it again, after the replica was promoted: sooner, and it would still be the primary. */
const kill: Fault = async ({ nodes }, random) => {
  const victim = random.pick(await findPrimaries(nodes));
  const successor = await findReplica(nodes, victim);
  await victim.server.kill();
  await waitUntilPromoted(successor);
  await sleep(random.below(500));
  await victim.server.start();
  return `killed the primary ${victim.server.port}, replaced by ${successor.server.port}`;
};

/** The services keep their connections to it, and what they have sent it meanwhile it runs before it hears of its successor. */
const zombie: Fault = async ({ nodes }, random) => {
  const victim = random.pick(await findPrimaries(nodes));
  const successor = await findReplica(nodes, victim);
  victim.server.signal('SIGSTOP');
  await waitUntilPromoted(successor);
  await sleep(random.below(1_000));
  victim.server.signal('SIGCONT');
  return `stopped the primary ${victim.server.port}, replaced by ${successor.server.port}`;
};

/** With TAKEOVER the replica holds no election, and there are two primaries until the old one learns of it. */
const takeover: Fault = async ({ nodes }, random) => {
  const victim = random.pick(await findPrimaries(nodes));
  const successor = await findReplica(nodes, victim);
  const mode = random.pick([[], ['FORCE'], ['TAKEOVER']]);
  await successor.redis.call('CLUSTER', 'FAILOVER', ...mode);
  await waitUntilPromoted(successor);
  return `${['CLUSTER FAILOVER', ...mode].join(' ')} from ${victim.server.port} to ${successor.server.port}`;
};

const reshard: Fault = async ({ nodes }, random) => {
  const [from, to] = random.shuffle(await findPrimaries(nodes));
  if (!from || !to) throw new Error('There are no two primaries.');
  const { slots, keys } = await moveSlots(nodes, { from, to, random });
  return `moved ${slots} slots with ${keys} keys from ${from.server.port} to ${to.server.port}`;
};

export const FAULTS: Record<Kind, Fault> = { kill, zombie, takeover, reshard, sentinel: kill };
