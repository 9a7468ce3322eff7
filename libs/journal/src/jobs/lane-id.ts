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
