import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startProgram } from '../../tools/devnet/processes/start-program.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { timeEach } from '../load.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { TRANSPORTS, type Asker } from '../transport-askers.js';
import { withCleanup } from '../with-cleanup.js';

const BASELINE = 'bare lists';

/** Questions and answers between two processes over one Redis, with a handler that does nothing. */
export function runTransportLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const seconds = quick ? 0.5 : 2;
    const askers: [string, Asker][] = [];
    for (const [name, createAsker] of Object.entries(TRANSPORTS)) {
      progress(`starting ${name}`);
      // One Redis each: an idle one costs nothing, and none sees another's keys.
      const redis = keep(await startRedis());
      keep(await startProgram(['bench/programs/transport-server.ts', name], { REDIS_URL: redis.url }));
      const asker = await createAsker(redis.url);
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
  const untilThen = function* () {
    while (performance.now() < untilMs) yield;
  };
  return timeEach(inFlight, untilThen(), ask);
}
