import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startProgram } from '../../tools/devnet/processes/start-program.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { timeEach } from '../load/time-each.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import {
  createBullmqAsker,
  createEchoAsker,
  createNestRedisAsker,
  createRequestReplyAsker,
  type Asker,
} from '../transport-askers.js';
import { withCleanup } from '../with-cleanup.js';

const BASELINE = 'bare lists';

const TRANSPORTS: [name: string, program: string, create: (redisUrl: string) => Promise<Asker>][] = [
  [BASELINE, 'echo', createEchoAsker],
  ['request-reply (ours)', 'request-reply', createRequestReplyAsker],
  ['Nest Redis (pub/sub)', 'nest-redis', createNestRedisAsker],
  ['BullMQ', 'bullmq', createBullmqAsker],
];

/** Questions and answers between two processes over one Redis, with a handler that does nothing. */
export function runTransportLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const seconds = quick ? 0.5 : 2;
    const askers: [string, Asker][] = [];
    for (const [name, program, create] of TRANSPORTS) {
      progress(`starting ${name}`);
      // One Redis each: an idle one costs nothing, and none sees another's keys.
      const redis = keep(await startRedis());
      keep(await startProgram(['bench/programs/transport-server.ts', program], { REDIS_URL: redis.url }));
      const asker = await create(redis.url);
      keep({ stop: asker.close });
      askers.push([name, asker]);
      await drive(asker, 64, seconds);
    }
    const cases = (quick ? [64] : [1, 64, 256]).map((inFlight): Case => ({
      name: `${inFlight} in flight`,
      baseline: BASELINE,
      subjects: askers.map(([name, asker]) => ({ name, measure: () => drive(asker, inFlight, seconds) })),
    }));
    return {
      lane: 'transport',
      title: 'questions answered between two processes over Redis, by a handler that does nothing',
      baseline: BASELINE,
      rows: await runRounds(cases, rounds, progress),
      notes: [`${BASELINE}: RPUSH and BLMPOP in the same batches, without Nest, JSON, limits or deadlines.`],
    };
  });
}

function drive({ ask }: Asker, inFlight: number, seconds: number): Promise<Sample> {
  const untilMs = performance.now() + seconds * 1000;
  return timeEach(inFlight, () => (performance.now() < untilMs ? ask() : undefined));
}
