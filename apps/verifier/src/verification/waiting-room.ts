export interface WaitingRoomOptions {
  waitMs: number;
  perClient: number;
  total: number;
  nowMs: () => number;
}

/** Time that is left for the claim and the reply when the wait is over. */
const REPLY_MARGIN_MS = 500;
const POLL_INTERVAL_MS = 250;

/**
 * Payments that wait for the chain: so many in all and per client, so that random hashes cannot burn the RPC budget.
 * All look again at the same moments, and so in the same batches.
 */
export class WaitingRoom {
  private readonly byClient = new Map<string, number>();
  private count = 0;
  private tick: Promise<void> | undefined;

  constructor(private readonly options: WaitingRoomOptions) {}

  get waiting(): number {
    return this.count;
  }

  /** A place for one payment's wait; nothing is held before the first `untilNextLook`. */
  createPlace(client: string, deadlineMs: number): Place {
    let untilMs: number | undefined;
    return {
      untilNextLook: async () => {
        if (untilMs === undefined) {
          if (!this.enter(client)) return false;
          untilMs = Math.min(this.options.nowMs() + this.options.waitMs, deadlineMs - REPLY_MARGIN_MS);
        }
        if (this.options.nowMs() >= untilMs) return false;
        await this.nextTick();
        return true;
      },
      leave: () => {
        if (untilMs !== undefined) this.exit(client);
        untilMs = undefined;
      },
    };
  }

  private enter(client: string): boolean {
    const ofClient = this.byClient.get(client) ?? 0;
    if (this.count >= this.options.total || ofClient >= this.options.perClient) return false;
    this.count++;
    this.byClient.set(client, ofClient + 1);
    return true;
  }

  private exit(client: string): void {
    this.count--;
    const left = (this.byClient.get(client) ?? 1) - 1;
    if (left > 0) this.byClient.set(client, left);
    else this.byClient.delete(client);
  }

  private nextTick(): Promise<void> {
    this.tick ??= new Promise((resolve) => {
      setTimeout(() => {
        this.tick = undefined;
        resolve();
      }, POLL_INTERVAL_MS);
    });
    return this.tick;
  }
}

export interface Place {
  /** False when the wait is over, or there is no room to wait in. */
  untilNextLook(): Promise<boolean>;
  leave(): void;
}
