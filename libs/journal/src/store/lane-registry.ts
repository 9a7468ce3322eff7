import { StoreError } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

import type { LaneId } from '../jobs/job.js';
import {
  codeOfLane,
  laneKey,
  lanesKey,
  readLaneCode,
  nameLane,
  readLaneName,
  flightKey,
  openKey,
  eventsKey,
} from '../jobs/keys.js';
import { parseFailure } from '../jobs/parse-job.js';
import type { InFlightStep, LaneFields, LaneGap, LaneStatus } from '../jobs/transition.js';

/** The known lanes; finds a job's lane from its id. */
export class LaneRegistry {
  readonly #byCode = new Map<string, LaneId>();

  constructor(
    private readonly redis: Redis | Cluster,
    readonly fleet: string,
  ) {}

  /** @throws StoreError when another fleet has already adopted the lane */
  async register(lane: LaneId): Promise<void> {
    await this.#occupy(lane);
    await this.redis.sadd(lanesKey(this.fleet), nameLane(lane));
    this.#byCode.set(codeOfLane(lane), lane);
  }

  /** Stored in the lane itself, so that two fleets cannot both adopt it. */
  async #occupy(lane: LaneId): Promise<void> {
    await this.redis.hsetnx(laneKey(lane), 'fleet', this.fleet);
    const fleet = await this.redis.hget(laneKey(lane), 'fleet');
    if (fleet === this.fleet) return;
    throw new StoreError(
      'lane_of_other_fleet',
      `The account ${lane.address} already sends for ${String(fleet)}, so it cannot send for ${this.fleet}.`,
      'Give each its own account: an account has one nonce counter and can serve one fleet.',
    );
  }

  /** Removes a released lane from the list, unless it was adopted again meanwhile. */
  async strike(lane: LaneId): Promise<void> {
    await this.redis.srem(lanesKey(this.fleet), nameLane(lane));
    const fleet = await this.redis.hget(laneKey(lane), 'fleet');
    if (fleet === this.fleet) await this.redis.sadd(lanesKey(this.fleet), nameLane(lane));
    else this.#byCode.delete(codeOfLane(lane));
  }

  /** All adopted lanes, by name. */
  async read(): Promise<LaneId[]> {
    const names = await this.redis.smembers(lanesKey(this.fleet));
    const lanes = names.sort().flatMap((name) => readLaneName(name) ?? []);
    for (const lane of lanes) this.#byCode.set(codeOfLane(lane), lane);
    return lanes;
  }

  /** Like `locate`, but without asking Redis. */
  find(jobId: string): LaneId | null {
    return this.#byCode.get(readLaneCode(jobId) ?? '') ?? null;
  }

  /** Null when the id is invalid or belongs to no known lane. */
  async locate(jobId: string): Promise<LaneId | null> {
    const code = readLaneCode(jobId);
    if (code === null) return null;
    if (!this.#byCode.has(code)) await this.read();
    return this.#byCode.get(code) ?? null;
  }
}

/** The current status of a lane. */
export async function readLaneStatus(redis: Redis | Cluster, lane: LaneId): Promise<LaneStatus> {
  const [fields, openJobs, unminedSteps, [last]] = await readTogether(redis, lane);
  const lastSequence = last === undefined ? 0 : Number.parseInt(last[0], 10);
  return { ...parseLane(lane, fields), openJobs, unminedSteps, lastSequence };
}

/** For a process that may read this one key of a lane. */
export async function readLaneFields(redis: Redis | Cluster, lane: LaneId): Promise<LaneFields> {
  return parseLane(lane, await redis.hgetall(laneKey(lane)));
}

function parseLane(lane: LaneId, fields: Record<string, string>): LaneFields {
  const { fleet, nextNonce, paused, run, frozen } = fields;
  return {
    lane,
    fleet: fleet ?? null,
    nextNonce: nextNonce === undefined ? null : Number(nextNonce),
    frozen: frozen === 'restarted' || frozen === 'lost' || frozen === 'chain_ahead' ? frozen : null,
    paused: paused === undefined ? null : parseFailure(paused),
    gap: findGap(fields),
    run: run ?? null,
    lease: findLease(fields),
  };
}

function findGap({ gap, ownFrom = '0', filledTo = '0' }: Record<string, string>): LaneGap | null {
  if (gap === undefined) return null;
  const [nonce, jobId = '-', stepIndex] = gap.split(' ');
  const hadBy = jobId === '-' ? null : { jobId, stepIndex: Number(stepIndex) };
  const isOfNone = Number(nonce) >= Number(filledTo) && Number(nonce) < Number(ownFrom);
  return { nonce: Number(nonce), hadBy, isUnheld: hadBy === null && isOfNone };
}

function findLease({ leaseOwner, leaseToken, leaseUntil, leaseLasts }: Record<string, string>): LaneStatus['lease'] {
  if (leaseOwner === undefined) return null;
  return {
    owner: leaseOwner,
    token: Number(leaseToken),
    untilMs: Number(leaseUntil),
    lastsMs: Number(leaseLasts),
  };
}

/** In one round trip, because every look at the lane reads it. */
async function readTogether(
  redis: Redis | Cluster,
  lane: LaneId,
): Promise<[fields: Record<string, string>, open: number, unmined: number, lastEvent: [id: string, string[]][]]> {
  const pipeline = redis.pipeline().hgetall(laneKey(lane)).zcard(openKey(lane)).zcount(flightKey(lane), 0, '+inf');
  const replies = await pipeline.xrevrange(eventsKey(lane), '+', '-', 'COUNT', 1).exec();
  const [fields, open, unmined, last] = (replies ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  return [fields as Record<string, string>, Number(open), Number(unmined), last as [string, string[]][]];
}

/** The steps of a lane that have a nonce and have not ended, by nonce. */
export async function readInFlightSteps(redis: Redis | Cluster, lane: LaneId): Promise<InFlightStep[]> {
  const flat = await redis.zrange(flightKey(lane), '0', '-1', 'WITHSCORES');
  const steps: InFlightStep[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const [jobId = '', stepIndex] = (flat[index] ?? '').split('/');
    const score = Number(flat[index + 1]);
    steps.push({ jobId, stepIndex: Number(stepIndex), nonce: score < 0 ? -1 - score : score });
  }
  return steps.sort((one, other) => one.nonce - other.nonce);
}
