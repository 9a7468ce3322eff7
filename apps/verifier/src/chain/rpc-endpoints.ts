import type { ChainObserver } from './chain-observer.js';
import { ChainUnavailableError } from './chain-unavailable-error.js';
import type { BatchAnswer, RpcCall, RpcEndpoint } from './rpc-endpoint.js';

/** How often the first server of the list is tried again while another one serves. */
const PROBE_INTERVAL_MS = 10_000;

/** The configured RPC servers in order of preference: the next on trouble, then that one, until a better one is well again. */
export class RpcEndpoints {
  private current = 0;
  private probedAtMs = 0;
  private probe: Promise<void> | undefined;

  constructor(
    private readonly endpoints: readonly RpcEndpoint[],
    private readonly timeoutMs: number,
    private readonly observer: ChainObserver,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Asks one server after the other, each once, until one gives an answer that can be believed.
   *
   * @param untilMs no further server is asked after it
   * @throws ChainUnavailableError the trouble of the last server asked
   */
  async ask(calls: readonly RpcCall[], lookups: number, untilMs: number): Promise<BatchAnswer & { served: number }> {
    this.probeBack();
    let trouble: ChainUnavailableError | undefined;
    for (let tried = 0; tried < this.endpoints.length; tried++) {
      const index = this.current;
      const endpoint = this.endpoints[index];
      const leftMs = untilMs - this.nowMs();
      if (endpoint === undefined || leftMs <= 0) break;
      try {
        const answer = await this.measure(endpoint, calls, lookups, Math.min(this.timeoutMs, leftMs));
        return { ...answer, served: index };
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        trouble = error;
        this.leave(index);
      }
    }
    throw trouble ?? new ChainUnavailableError('deadline_passed', 'No time was left to ask the chain.');
  }

  /** The next questions go to the next server, unless somebody moved on already. */
  leave(index: number): void {
    if (index === this.current) this.current = (index + 1) % this.endpoints.length;
    if (this.current !== 0 && index === 0) this.probedAtMs = this.nowMs();
  }

  async close(): Promise<void> {
    await Promise.all(this.endpoints.map((endpoint) => endpoint.close()));
    await this.probe;
  }

  private probeBack(): void {
    const better = this.endpoints[0];
    if (this.current === 0 || !better || this.probe || this.nowMs() - this.probedAtMs < PROBE_INTERVAL_MS) return;
    this.probedAtMs = this.nowMs();
    this.probe = this.measure(better, [], 0, this.timeoutMs)
      .then(
        () => void (this.current = 0),
        () => undefined,
      )
      .finally(() => (this.probe = undefined));
  }

  private async measure(
    endpoint: RpcEndpoint,
    calls: readonly RpcCall[],
    lookups: number,
    timeoutMs: number,
  ): Promise<BatchAnswer> {
    const startedAtMs = performance.now();
    let trouble = 'none';
    try {
      return await endpoint.ask(calls, timeoutMs);
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
