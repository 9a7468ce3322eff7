import { hash, randomBytes } from 'node:crypto';

import { isAddress } from '@tollgate/protocol';

import type { LaneId } from './job.js';

/**
 * A lane from a chain and a wallet address in any letter case.
 * @throws TypeError when either is invalid.
 */
export function createLaneId(chainId: number, address: string): LaneId {
  if (!Number.isSafeInteger(chainId) || chainId < 1) throw new TypeError(`${chainId} is not a chain id`);
  if (!isAddress(address)) throw new TypeError('a lane needs the address of its wallet');
  return { chainId, address: address.toLowerCase() as LaneId['address'] };
}

/** `1328:0x…` */
export function nameLane({ chainId, address }: LaneId): string {
  return `${chainId}:${address}`;
}

/** Parses a lane's name; null when it is invalid. */
export function readLaneName(name: string): LaneId | null {
  const [chainId, address] = name.split(':');
  return /^\d{1,15}$/.test(chainId ?? '') && isAddress(address) ? createLaneId(Number(chainId), address) : null;
}

/** The fleet of the wallets that agent jobs use. */
export const DEFAULT_FLEET = 'lanes';
/** The fleet of the accounts that send settlements. */
export const RELAYER_FLEET = 'relayers';

/** The operation of the jobs that fill a gap. */
export const FILL = 'fillNonce';

/** The names of all lanes of a fleet that were ever adopted. */
export const lanesKey = (fleet: string): string => `tollgate:{${fleet}}:lanes`;

/** The prefix of all keys of a lane. Its braces put them on one server of a cluster. */
const root = (lane: LaneId): string => `tollgate:{${nameLane(lane)}}:`;

/**
 * Nonce counter, lease, pause, freeze, and the run of the server. The scripts derive the lane's other keys from this
 * name.
 */
export const laneKey = (lane: LaneId): string => `${root(lane)}lane`;
export const jobKey = (lane: LaneId, jobId: string): string => `${root(lane)}job:${jobId}`;
/** Jobs that are neither ended nor parked, by submission time. */
export const openKey = (lane: LaneId): string => `${root(lane)}open`;
/** All stored jobs, by submission time. */
export const jobsKey = (lane: LaneId): string => `${root(lane)}jobs`;
/** `jobId/step` of the steps that have a nonce and have not ended, by nonce; by -1 - nonce once they are mined. */
export const flightKey = (lane: LaneId): string => `${root(lane)}flight`;
/** What was counted of the daily limits on a day, in days since 1970: base units by asset. */
export const spentKey = (lane: LaneId, day: number): string => `${root(lane)}spent:${day}`;
export const eventsKey = (lane: LaneId): string => `${root(lane)}events`;
/** The position of each consumer in the events. */
export const consumersKey = (lane: LaneId): string => `${root(lane)}consumers`;

/** The jobs of the lane by the hashed idempotency keys that they were submitted with. */
export const submittedKey = (lane: LaneId): string => `${root(lane)}idempotency`;

/** An idempotency key belongs to no lane: it covers all wallets of its API key. */
export const idempotencyKey = (hashed: string): string => `tollgate:{idempotency-${hashed}}`;

/** Hashes an API key's idempotency key to 22 characters. The key itself is stored nowhere. */
export function hashIdempotencyKey(keyId: string, key: string): string {
  const digest = hash('sha256', `${keyId}\n${key}`, 'hex').slice(0, 32);
  return Buffer.from(digest, 'hex').toString('base64url');
}

/** The first part of a job's id, so that the lane can be found from the id alone. */
export function codeOfLane(lane: LaneId): string {
  return `j${hash('sha256', nameLane(lane), 'hex').slice(0, 8)}`;
}

/**
 * A new id, `j1a2b3c4d-` and 24 hexadecimal digits. It has no colon and is never all digits, because job queues refuse
 * such ids.
 */
export function createJobId(lane: LaneId): string {
  return `${codeOfLane(lane)}-${randomBytes(12).toString('hex')}`;
}

/** The lane's code in a job's id; null when the text is not a job id. */
export function readLaneCode(jobId: string): string | null {
  return /^(j[0-9a-f]{8})-[0-9a-f]{24}$/.exec(jobId)?.[1] ?? null;
}
