import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

import type { LaneId } from '../jobs/job.js';
import type { LaneLease } from '../jobs/transition.js';
import { pause } from '../pause.js';
import type { Journal } from '../store/journal.js';

export interface LaneLeaseOptions {
  /** Unique among all processes that ever ran. */
  owner: string;
  /** After this long without a renewal another process may take the lane. */
  leaseMs: number;
  /** Called once when another process has taken the lane. */
  onLost: (lane: LaneId) => void;
}

/** Identifies this run of this process; the host name is for operators. */
export function nameProcess(): string {
  return `${hostname().slice(0, 64)}-${randomBytes(8).toString('hex')}`;
}

/** A lease that is renewed until it is released or lost. */
export interface HeldLane {
  lane: LaneId;
  /** Passed with every write: the journal refuses writes whose token is not the lane's current one. */
  token: number;
  release(): Promise<void>;
}

/**
 * Takes a lane's lease and keeps renewing it. The lease makes sure that one process works on the lane and that two do
 * not interfere; that nothing is sent twice rests on the journal alone. Null: another process has it.
 */
export async function holdLane(
  journal: Journal,
  lane: LaneId,
  { owner, leaseMs, onLost }: LaneLeaseOptions,
): Promise<HeldLane | null> {
  const taken = await journal.takeLease(lane, owner, leaseMs);
  if (!taken) return null;
  const held: LaneLease = taken;
  let isOver = false;
  let renewal: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(() => renew());
  }, leaseMs / 3);
  timer.unref();

  async function renew(): Promise<void> {
    if (isOver) return;
    // A missing answer decides nothing: the lease may still be ours, and the next renewal shows it.
    const renewed = await journal.renewLease(held, leaseMs).catch(() => undefined);
    if (renewed !== null || isOver) return;
    stop();
    onLost(lane);
  }

  function stop(): void {
    isOver = true;
    clearInterval(timer);
  }

  return {
    lane,
    token: held.token,
    release: async () => {
      if (isOver) return;
      stop();
      await renewal;
      await journal.releaseLease(held);
    },
  };
}

const MOST_COUNTED = 4;

/**
 * Lets the runners of one process take lanes one at a time, and the more lanes this process has, the longer it leaves
 * free lanes to other processes. A process never gives up a lane for balance: one that starts late gets the lanes that
 * become free.
 */
export class LaneShare {
  #held = 0;
  #turn: Promise<void> = Promise.resolve();

  /** How much longer than other processes this one waits before it takes a lane that may have become free. */
  patienceMs(leaseMs: number): number {
    return Math.min(this.#held, MOST_COUNTED) * (leaseMs / 40);
  }

  /** Tries to take a lane when its turn comes. A lane that it gets is counted until `giveBack`. */
  async take<T>(attempt: () => Promise<T | null>, leaseMs: number, signal: AbortSignal): Promise<T | null> {
    const mine = this.#turn.then(async () => {
      const taken = signal.aborted ? null : await attempt();
      if (taken !== null) this.#held++;
      return taken;
    });
    this.#turn = mine.then(
      (taken) => (taken === null ? undefined : pause(this.patienceMs(leaseMs), signal)),
      () => undefined,
    );
    return mine;
  }

  giveBack(): void {
    this.#held--;
  }
}
