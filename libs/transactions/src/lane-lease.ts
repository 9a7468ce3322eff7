import type { LaneId } from './job.js';
import type { Journal } from './journal.js';
import type { LaneLease } from './transition.js';

export interface LaneLeaseOptions {
  /** Names this process among all that ever ran. */
  owner: string;
  /** After this long without a renewal somebody else may take the lane. */
  leaseMs: number;
  /** Called once when the lane is somebody else's. */
  onLost: (lane: LaneId) => void;
}

/** A lease that is renewed until it is released or lost. */
export interface HeldLane {
  lane: LaneId;
  /** To be named with every write: the journal refuses those of a holder whose lease went to another. */
  token: number;
  release(): Promise<void>;
}

/**
 * Takes a lane's lease and keeps it. It sees to it that somebody works on the lane and two do not get in each other's
 * way; that nothing is sent twice rests on the journal alone. Null: somebody else has it.
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
    // No answer is no verdict: the lease may well be ours still, and the next renewal tells.
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
