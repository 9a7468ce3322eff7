import { pause } from './pause.js';

const MOST_COUNTED = 4;

/**
 * Lets the runners of one process take lanes one at a time, and leaves other processes longer for theirs the more lanes
 * this one has. Nothing is given back for it: who comes late gets what becomes free.
 */
export class LaneShare {
  #held = 0;
  #turn: Promise<void> = Promise.resolve();

  /** How much longer than another this process leaves a lane alone that may have become free. */
  patienceMs(leaseMs: number): number {
    return Math.min(this.#held, MOST_COUNTED) * (leaseMs / 40);
  }

  /** Tries to take a lane when its turn comes. What it gives is counted until `giveBack`. */
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
