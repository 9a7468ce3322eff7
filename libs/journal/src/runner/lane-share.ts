import { pause } from '../pause.js';

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
