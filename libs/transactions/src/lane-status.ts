import type { Cluster, Redis } from 'ioredis';

import type { LaneId } from './job.js';
import { flightKey, laneKey, openKey, unminedKey } from './keys.js';
import { parseFailure } from './parse-job.js';
import type { InFlightStep, LaneStatus } from './transition.js';

/** Where a lane stands. */
export async function readLaneStatus(redis: Redis | Cluster, lane: LaneId): Promise<LaneStatus> {
  const [fields, openJobs, unminedSteps] = await Promise.all([
    redis.hgetall(laneKey(lane)),
    redis.zcard(openKey(lane)),
    redis.zcard(unminedKey(lane)),
  ]);
  const { nextNonce, paused, run, frozen, leaseOwner, leaseToken, leaseUntil, sequence } = fields;
  return {
    lane,
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

/** The steps of a lane that have a nonce and no end yet, by nonce. */
export async function readInFlightSteps(redis: Redis | Cluster, lane: LaneId): Promise<InFlightStep[]> {
  const flat = await redis.zrange(flightKey(lane), '0', '-1', 'WITHSCORES');
  const steps: InFlightStep[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [jobId = '', stepIndex] = (flat[index] ?? '').split('/');
    steps.push({ jobId, stepIndex: Number(stepIndex), nonce: Number(flat[index + 1]) });
  }
  return steps;
}
