import { hash, randomBytes } from 'node:crypto';

import type { LaneId } from './job.js';
import { nameLane } from './lane-id.js';

/** The fleet of the wallets that agent jobs name. */
export const DEFAULT_FLEET = 'lanes';
/** The fleet of the accounts that send settlements. */
export const RELAYER_FLEET = 'relayers';

/** The names of all lanes of a fleet that were ever adopted. */
export const lanesKey = (fleet: string): string => `tollgate:{${fleet}}:lanes`;

/** All of a lane's keys begin with this, and its braces put them on one server of a cluster. */
const root = (lane: LaneId): string => `tollgate:{${nameLane(lane)}}:`;

/** Nonce counter, lease, pause, freeze, and the run of the server. The scripts name the lane's other keys after it. */
export const laneKey = (lane: LaneId): string => `${root(lane)}lane`;
export const jobKey = (lane: LaneId, jobId: string): string => `${root(lane)}job:${jobId}`;
/** Jobs that are neither ended nor parked, by the time they were submitted. */
export const openKey = (lane: LaneId): string => `${root(lane)}open`;
/** All jobs that are not forgotten, by the time they were submitted. */
export const jobsKey = (lane: LaneId): string => `${root(lane)}jobs`;
/** `jobId/step` of the steps that have a nonce and no end yet, by nonce. */
export const flightKey = (lane: LaneId): string => `${root(lane)}flight`;
/** Of those, the ones that are not mined. */
export const unminedKey = (lane: LaneId): string => `${root(lane)}unmined`;
export const eventsKey = (lane: LaneId): string => `${root(lane)}events`;
/** How far each consumer of the events has come. */
export const consumersKey = (lane: LaneId): string => `${root(lane)}consumers`;

/** An idempotency key belongs to no lane: it holds for all wallets of its API key. */
export const idempotencyKey = (hashed: string): string => `tollgate:{idempotency-${hashed}}`;

/** Names an API key's idempotency key in 22 characters; the key itself is kept nowhere. */
export function hashIdempotencyKey(keyId: string, key: string): string {
  const digest = hash('sha256', `${keyId}\n${key}`, 'hex').slice(0, 32);
  return Buffer.from(digest, 'hex').toString('base64url');
}

/** The first part of a job's id, so that the lane can be found from the id alone. */
export function codeOfLane(lane: LaneId): string {
  return `j${hash('sha256', nameLane(lane), 'hex').slice(0, 8)}`;
}

/** A new id, `j1a2b3c4d-` and 24 hexadecimal digits: no colon, never all digits, which queues do not take. */
export function createJobId(lane: LaneId): string {
  return `${codeOfLane(lane)}-${randomBytes(12).toString('hex')}`;
}

/** The lane's code in a job's id; null when it is no id. */
export function readLaneCode(jobId: string): string | null {
  return /^(j[0-9a-f]{8})-[0-9a-f]{24}$/.exec(jobId)?.[1] ?? null;
}
