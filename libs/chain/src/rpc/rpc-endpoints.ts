import { AnswerTooLongError, ChainUnavailableError } from './chain-unavailable-error.js';
import type { BatchAnswer, RpcCall, RpcEndpoint } from './rpc-endpoint.js';

export interface EndedBatch {
  /** Host and port of the RPC server; the rest of its URL is never exposed. */
  host: string;
  lookups: number;
  seconds: number;
  /** The `reason` of the batch's ChainUnavailableError, or `none`. */
  trouble: string;
}

/** Receives the events of the look-ups, for logs and metrics. */
export interface ChainObserver {
  batchEnded(batch: EndedBatch): void;
  queueChanged(lookupsQueued: number, batchesInFlight: number): void;
}

export function combineObservers(...observers: ChainObserver[]): ChainObserver {
  return {
    batchEnded: (batch) => observers.forEach((observer) => observer.batchEnded(batch)),
    queueChanged: (queued, inFlight) => observers.forEach((observer) => observer.queueChanged(queued, inFlight)),
  };
}

/** How often the preferred server is probed while another one serves. */
const PROBE_INTERVAL_MS = 10_000;

/** For a probe's two small answers, or an error page. */
const PROBE_BYTES = 65_536;

export interface BatchToAsk {
  calls: readonly RpcCall[];
  /** The number of questions in it. */
  lookups: number;
  /** No further server is asked after this time. */
  untilMs: number;
  maxBytes: number;
}

/**
 * The configured RPC servers in order of preference. A failure moves to the next server, which stays in use until the
 * preferred one answers a probe.
 */
export class RpcEndpoints {
  #first = 0;
  #current = 0;
  #probedAtMs = 0;
  #probe: Promise<void> | undefined;

  constructor(
    private readonly endpoints: readonly RpcEndpoint[],
    private readonly timeoutMs: number,
    private readonly observer: ChainObserver,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Asks one server after the other, each once, until one gives a valid answer.
   *
   * @throws ChainUnavailableError the failure of the last server asked
   */
  async ask(batch: BatchToAsk): Promise<BatchAnswer & { served: number }> {
    this.#probeBack();
    let trouble: ChainUnavailableError | undefined;
    for (let tried = 0; tried < this.endpoints.length; tried++) {
      const index = this.#current;
      const endpoint = this.endpoints[index];
      const leftMs = batch.untilMs - this.nowMs();
      if (endpoint === undefined || leftMs <= 0) break;
      try {
        const answer = await this.#measure(endpoint, batch, Math.min(this.timeoutMs, leftMs));
        return { ...answer, served: index };
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        // Another server's answer would be as long, and a client's choice of transaction must not drive us off a good
        // server.
        if (error instanceof AnswerTooLongError && error.isOfBatch) throw error;
        trouble = error;
        this.leave(index);
      }
    }
    throw trouble ?? new ChainUnavailableError('deadline_passed', 'No time was left to ask the chain.');
  }

  /** Moves on to the next server, unless another question has already moved on. */
  leave(index: number): void {
    if (index === this.#current) this.#current = (index + 1) % this.endpoints.length;
    if (this.#current !== this.#first && index === this.#first) this.#probedAtMs = this.nowMs();
  }

  /** The server that is asked next. */
  get next(): number {
    return this.#current;
  }

  /** Asks this server first from now on. */
  prefer(index: number): void {
    this.#first = this.#current = index;
  }

  async close(): Promise<void> {
    await Promise.all(this.endpoints.map((endpoint) => endpoint.close()));
    await this.#probe;
  }

  #probeBack(): void {
    const better = this.endpoints[this.#first];
    const sinceMs = this.nowMs() - this.#probedAtMs;
    // Less than nothing: the clock was set back meanwhile.
    const isProbed = sinceMs >= 0 && sinceMs < PROBE_INTERVAL_MS;
    if (this.#current === this.#first || !better || this.#probe || isProbed) return;
    this.#probedAtMs = this.nowMs();
    this.#probe = this.#measure(better, { calls: [], lookups: 0, maxBytes: PROBE_BYTES }, this.timeoutMs)
      .then(
        () => void (this.#current = this.#first),
        () => undefined,
      )
      .finally(() => (this.#probe = undefined));
  }

  async #measure(
    endpoint: RpcEndpoint,
    { calls, lookups, maxBytes }: Omit<BatchToAsk, 'untilMs'>,
    timeoutMs: number,
  ): Promise<BatchAnswer> {
    const startedAtMs = performance.now();
    let trouble = 'none';
    try {
      return await endpoint.ask(calls, { timeoutMs, maxBytes });
    } catch (error) {
      trouble = error instanceof ChainUnavailableError ? error.reason : 'unexpected';
      throw error;
    } finally {
      this.observer.batchEnded({
        host: endpoint.host,
        lookups,
        seconds: (performance.now() - startedAtMs) / 1000,
        trouble,
      });
    }
  }
}
