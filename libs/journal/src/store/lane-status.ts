import type { Cluster, Redis } from 'ioredis';

import type { LaneId } from '../jobs/job.js';
import { flightKey, laneKey, openKey, unminedKey } from '../jobs/keys.js';
import { parseFailure } from '../jobs/parse-job.js';
import type { InFlightStep, LaneStatus } from '../jobs/transition.js';

/** The current status of a lane. */
export async function readLaneStatus(redis: Redis | Cluster, lane: LaneId): Promise<LaneStatus> {
  const [fields, openJobs, unminedSteps] = await readTogether(redis, lane);
  const { fleet, nextNonce, paused, run, frozen, leaseOwner, leaseToken, leaseUntil, sequence } = fields;
  return {
    lane,
    fleet: fleet ?? null,
    nextNonce: nextNonce === undefined ? null : Number(nextNonce),
    frozen: frozen === 'restarted' || frozen === 'lost' || frozen === 'chain_ahead' ? frozen : null,
    paused: paused === undefined ? null : parseFailure(paused),
    run: run ?? null,
    lease:
      leaseOwner === undefined ? null : { owner: leaseOwner, token: Number(leaseToken), untilMs: Number(leaseUntil) },
    openJobs,
    unminedSteps,
    lastSequence: Number(sequence ?? 0),
  };
}

/** In one round trip, because every look at the lane reads it. */
async function readTogether(redis: Redis | Cluster, lane: LaneId): Promise<[Record<string, string>, number, number]> {
  const replies = await redis.pipeline().hgetall(laneKey(lane)).zcard(openKey(lane)).zcard(unminedKey(lane)).exec();
  const [fields, open, unmined] = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  return [fields as Record<string, string>, Number(open), Number(unmined)];
}

/** The steps of a lane that have a nonce and have not ended, by nonce. */
export async function readInFlightSteps(redis: Redis | Cluster, lane: LaneId): Promise<InFlightStep[]> {
  const flat = await redis.zrange(flightKey(lane), '0', '-1', 'WITHSCORES');
  const steps: InFlightStep[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [jobId = '', stepIndex] = (flat[index] ?? '').split('/');
    steps.push({ jobId, stepIndex: Number(stepIndex), nonce: Number(flat[index + 1]) });
  }
  return steps;
}
