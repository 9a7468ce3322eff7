import type { Hex } from '@tollgate/protocol';

import type { LaneId } from '../jobs/job.js';
import type { LaneFields } from '../jobs/transition.js';
import type { Journal } from './journal.js';

/** An account from which settlements or jobs are sent. */
export interface ListedLane {
  /** Lower case. */
  address: Hex;
  /** A process works on it, and it is neither paused nor frozen. */
  isAvailable: boolean;
}

export interface LaneDirectoryOptions {
  journal: Pick<Journal, 'readLanes' | 'readLaneFields'>;
  chainId: number;
  /** Redis's clock. */
  nowMs: () => number;
  /** Default 2 seconds. */
  maxAgeMs?: number;
}

/**
 * The lanes of a fleet on one chain, as of a few seconds ago, for callers that need the address of one of its accounts.
 */
export class LaneDirectory {
  #reading: Promise<ListedLane[]> | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LaneDirectoryOptions) {}

  /** Lanes with a running process come first. @throws StoreUnavailableError */
  read(): Promise<ListedLane[]> {
    const nowMs = performance.now();
    if (this.#reading === null || nowMs - this.#readAtMs > (this.options.maxAgeMs ?? 2_000)) {
      this.#readAtMs = nowMs;
      this.#reading = this.#list();
      this.#reading.catch(() => (this.#reading = null));
    }
    return this.#reading;
  }

  async #list(): Promise<ListedLane[]> {
    const { journal, chainId } = this.options;
    const lanes = (await journal.readLanes()).filter((lane) => lane.chainId === chainId);
    const listed = await Promise.all(lanes.map((lane) => this.#look(lane)));
    return listed.sort((one, other) => Number(other.isAvailable) - Number(one.isAvailable));
  }

  async #look(lane: LaneId): Promise<ListedLane> {
    const status = await this.options.journal.readLaneFields(lane);
    return { address: lane.address, isAvailable: isAvailable(status, this.options.nowMs()) };
  }
}

function isAvailable({ nextNonce, frozen, paused, lease }: LaneFields, nowMs: number): boolean {
  return nextNonce !== null && frozen === null && paused === null && lease !== null && isLeaseRunning(lease, nowMs);
}

/** The caller's idea of Redis's clock may be a little behind. */
const CLOCK_LAG_MS = 60_000;

/** A lease that has far longer to go than it lasts was taken by a clock that was ahead, and is over. */
export function isLeaseRunning({ untilMs, lastsMs }: NonNullable<LaneFields['lease']>, nowMs: number): boolean {
  return untilMs > nowMs && untilMs - nowMs <= lastsMs + CLOCK_LAG_MS;
}
