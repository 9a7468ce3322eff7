import { isNotYet, NotJudged, PaymentRefused, RETRY_AFTER_MS } from '../refusals.js';

export interface WaitingRoomOptions {
  waitMs: number;
  perClient: number;
  total: number;
  /** The clock of deadlines. */
  nowMs: () => number;
}

/** On this process's clock, which is never set back, and on that of deadlines. */
interface Wait {
  untilMs: number;
  replyByMs: number;
}

/** Time left for the claim and the reply after the wait. */
const REPLY_MARGIN_MS = 500;
const POLL_INTERVAL_MS = 250;

/**
 * Payments that wait for the chain. Their number is limited in all and per client, so that random hashes cannot use up
 * the RPC budget. All look again at the same moments, and so share batches.
 */
export class WaitingRoom {
  readonly counts = { no_room: 0 };
  readonly #byClient = new Map<string, number>();
  #count = 0;
  #tick: Promise<void> | undefined;

  constructor(private readonly options: WaitingRoomOptions) {}

  get waiting(): number {
    return this.#count;
  }

  /**
   * Judges a payment, and again as long as the passing of time alone may turn its refusal into a success.
   * @throws the last error if it is final or the wait is over; NotJudged when there is no room to wait: the
   * payment may be good a moment later, and a refusal would make its payer pay again
   */
  async retry<T>(client: string, deadlineMs: number, judge: () => Promise<T>): Promise<T> {
    let wait: Wait | null = null;
    try {
      for (;;) {
        try {
          return await judge();
        } catch (error) {
          if (!(error instanceof PaymentRefused) || !isNotYet(error.failure)) throw error;
          wait ??= this.#enter(error, client, deadlineMs);
          if (this.#isOver(wait)) throw error;
          await this.#nextTick();
        }
      }
    } finally {
      if (wait !== null) this.#exit(client);
    }
  }

  /** Takes a place. @throws as `retry` does, for a payment that gets none */
  #enter(refusal: PaymentRefused, client: string, deadlineMs: number): Wait {
    const { waitMs, perClient, total } = this.options;
    const wait = { untilMs: performance.now() + waitMs, replyByMs: deadlineMs - REPLY_MARGIN_MS };
    // A room without places is a valid setting: no payment waits, and none is rejected for want of room.
    if (this.#isOver(wait) || perClient === 0 || total === 0) throw refusal;
    const ofClient = this.#byClient.get(client) ?? 0;
    if (this.#count >= total || ofClient >= perClient) {
      this.counts.no_room++;
      throw noRoom(refusal);
    }
    this.#count++;
    this.#byClient.set(client, ofClient + 1);
    return wait;
  }

  #isOver({ untilMs, replyByMs }: Wait): boolean {
    return performance.now() >= untilMs || this.options.nowMs() >= replyByMs;
  }

  #exit(client: string): void {
    this.#count--;
    const left = (this.#byClient.get(client) ?? 1) - 1;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }

  #nextTick(): Promise<void> {
    this.#tick ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#tick = undefined;
        resolve();
      }, POLL_INTERVAL_MS);
    });
    return this.#tick;
  }
}

function noRoom(cause: Error): NotJudged {
  const message =
    'The limit of payments that wait for the chain is reached (WAITING_TOTAL, WAITING_PER_CLIENT). Retry later.';
  return new NotJudged('waiting_room_full', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
