import type { ScriptArgument } from '@tollgate/redis';

import type { TransitionName } from './journal-scripts.js';

export interface TransitionCall {
  name: TransitionName;
  /** The job's key; null for a transition of the lane itself. */
  job: string | null;
  args: readonly ScriptArgument[];
}

interface Waiting {
  calls: readonly TransitionCall[];
  resolve: (replies: string[][]) => void;
  reject: (error: unknown) => void;
}

type RunBatch = (lane: string, chains: readonly (readonly TransitionCall[])[]) => Promise<string[][]>;

/** The most transitions sent at once. Redis does nothing else meanwhile, for some milliseconds. */
const MOST_CHAINS = 32;

/**
 * Sends the transitions of a lane that are requested in one turn of the event loop together. A failure on the way fails
 * all of them; each may or may not have been made, and may be repeated.
 */
export class TransitionQueue {
  readonly #waiting = new Map<string, Waiting[]>();
  #isFlushPlanned = false;

  constructor(private readonly runBatch: RunBatch) {}

  /** Returns one reply per call. */
  run(lane: string, calls: readonly TransitionCall[]): Promise<string[][]> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(lane) ?? [];
      waiting.push({ calls, resolve, reject });
      this.#waiting.set(lane, waiting);
      // Sends early once this many wait, so that Redis works while this process signs the next ones.
      if (waiting.length >= MOST_CHAINS) this.#flush(lane);
      else this.#planFlush();
    });
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      for (const lane of this.#waiting.keys()) this.#flush(lane);
    });
  }

  #flush(lane: string): void {
    const batch = this.#waiting.get(lane) ?? [];
    this.#waiting.delete(lane);
    if (batch.length > 0) void this.#send(lane, batch);
  }

  async #send(lane: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const chains = batch.map(({ calls }) => calls);
      const replies = await this.runBatch(lane, chains);
      let from = 0;
      for (const { calls, resolve } of batch) resolve(replies.slice(from, (from += calls.length)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** The keys and arguments of one run of the lane's script. */
export function encodeCalls(
  lane: string,
  chains: readonly (readonly TransitionCall[])[],
): { keys: string[]; args: ScriptArgument[] } {
  const keys = [lane];
  const places = new Map<string, number>();
  const args: ScriptArgument[] = [];
  for (const chain of chains) {
    for (const [index, { name, job, args: own }] of chain.entries()) {
      if (job !== null && !places.has(job)) places.set(job, keys.push(job) - 1);
      args.push(name, index === 0 ? '' : '+', job === null ? 0 : (places.get(job) ?? 0), own.length, ...own);
    }
  }
  return { keys, args };
}
