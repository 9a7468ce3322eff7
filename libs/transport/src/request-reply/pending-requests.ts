import type { ReplyEnvelope } from './envelope.js';

export interface PendingRequest {
  text: string;
  /** The list it is pushed to. */
  list: string;
  /** On this process's monotonic clock, like `repeatAtMs`. */
  endsAtMs: number;
  repeatAtMs: number;
  repeatEveryMs: number;
  /** Remove it from the list at its end. */
  isTakenBack: boolean;
  /** How often it was pushed. */
  pushes: number;
  settle: (outcome: ReplyEnvelope | Error) => void;
}

const TICK_MS = 20;

/** Requests without a reply yet. One timer serves all: two timers per request would cost more than everything else. */
export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly repeat: (id: string, request: PendingRequest) => void,
    private readonly late: (request: PendingRequest) => Promise<Error>,
  ) {}

  get size(): number {
    return this.#pending.size;
  }

  add(id: string, request: PendingRequest): void {
    this.#pending.set(id, request);
    this.#timer ??= setInterval(() => this.#look(), TICK_MS);
  }

  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /** Retries the repeatable requests soon, because their push failed. */
  repeatWithin(delayMs: number, ids: Iterable<string>): void {
    for (const id of ids) {
      const request = this.#pending.get(id);
      if (request === undefined || request.repeatEveryMs === Number.POSITIVE_INFINITY) continue;
      request.repeatAtMs = Math.min(request.repeatAtMs, performance.now() + delayMs);
    }
  }

  forget(id: string): void {
    this.#pending.delete(id);
  }

  /** Ends a request; null when no request with this id is waiting (any more). */
  settle(id: string, outcome: ReplyEnvelope | Error): PendingRequest | null {
    const request = this.#pending.get(id);
    if (request === undefined) return null;
    this.#pending.delete(id);
    request.settle(outcome);
    return request;
  }

  settleAll(error: Error): void {
    for (const id of [...this.#pending.keys()]) this.settle(id, error);
    this.#stopTimer();
  }

  #look(): void {
    if (this.#pending.size === 0) return this.#stopTimer();
    const nowMs = performance.now();
    for (const [id, request] of this.#pending) {
      if (nowMs >= request.endsAtMs) {
        this.#pending.delete(id);
        void this.late(request).then(request.settle);
      } else if (nowMs >= request.repeatAtMs) {
        request.repeatAtMs = nowMs + request.repeatEveryMs;
        request.pushes++;
        this.repeat(id, request);
      }
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
