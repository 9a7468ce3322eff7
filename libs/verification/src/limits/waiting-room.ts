import { ChainUnavailableError } from '@tollgate/chain';

import { isNotYet, PaymentRefused } from '../refusals.js';

export interface WaitingRoomOptions {
  waitMs: number;
  perClient: number;
  total: number;
  nowMs: () => number;
}

/** `full`: there is no room to wait; `over`: the wait has ended. */
export type NextLook = 'now' | 'full' | 'over';

/** Time left for the claim and the reply after the wait. */
const REPLY_MARGIN_MS = 500;
const POLL_INTERVAL_MS = 250;
/** How long a client without room should wait before it retries. */
const RETRY_AFTER_MS = 1000;

/**
 * Payments that wait for the chain. Their number is limited in all and per client, so that random hashes cannot use up
 * the RPC budget. All look again at the same moments, and so share batches.
 */
export class WaitingRoom {
  readonly counts = { no_room: 0 };
  private readonly byClient = new Map<string, number>();
  private count = 0;
  private tick: Promise<void> | undefined;

  constructor(private readonly options: WaitingRoomOptions) {}

  get waiting(): number {
    return this.count;
  }

  /**
   * Waits for the next look at a payment whose refusal the passing of time alone may turn into a success.
   * @throws the error if it is final or the wait is over; ChainUnavailableError when there is no room to wait: the
   * payment may be good a moment later, and a refusal would make its payer pay again
   */
  async waitAfter(error: unknown, place: WaitingPlace): Promise<void> {
    if (!(error instanceof PaymentRefused) || !isNotYet(error.failure)) throw error;
    const next = await place.untilNextLook();
    if (next === 'full') throw noRoom(error);
    if (next === 'over') throw error;
  }

  /** Creates a place for one payment's wait; it counts only from the first `untilNextLook`. */
  createPlace(client: string, deadlineMs: number): WaitingPlace {
    let untilMs: number | undefined;
    return {
      untilNextLook: async () => {
        if (untilMs === undefined) {
          const endMs = Math.min(this.options.nowMs() + this.options.waitMs, deadlineMs - REPLY_MARGIN_MS);
          if (this.options.nowMs() >= endMs || !this.mayWait()) return 'over';
          if (!this.enter(client)) {
            this.counts.no_room++;
            return 'full';
          }
          untilMs = endMs;
        }
        if (this.options.nowMs() >= untilMs) return 'over';
        await this.nextTick();
        return 'now';
      },
      leave: () => {
        if (untilMs !== undefined) this.exit(client);
        untilMs = undefined;
      },
    };
  }

  /** A room without places is a valid setting: no payment waits, and none is rejected as `full`. */
  private mayWait(): boolean {
    return this.options.perClient > 0 && this.options.total > 0;
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

export interface WaitingPlace {
  untilNextLook(): Promise<NextLook>;
  leave(): void;
}

function noRoom(cause: Error): ChainUnavailableError {
  const message =
    'The limit of payments that wait for the chain is reached (WAITING_TOTAL, WAITING_PER_CLIENT). Retry later.';
  return new ChainUnavailableError('waiting_room_full', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
