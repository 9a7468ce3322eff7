import { Journal, LaneDirectory, RELAYER_FLEET } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { RedisClient } from '@tollgate/redis';

const LOOK_AGAIN_MS = 1_000;

export interface AvailableRelayerParts {
  readonly redis: RedisClient;
  readonly chainId: number;
  /** The clock of the ledger's Redis. */
  readonly nowMs: () => number;
}

/**
 * Keeps the address of a relayer account that a running verifier settles with: a challenge has no time to look one up.
 */
export class AvailableRelayer {
  readonly #lanes: LaneDirectory;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #address: Hex | null = null;

  constructor({ redis, chainId, nowMs }: AvailableRelayerParts) {
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    this.#lanes = new LaneDirectory({ journal, chainId, nowMs, maxAgeMs: 0 });
  }

  /** Null while no verifier settles, so that a payer has no relayer to name. */
  get address(): Hex | null {
    return this.#address;
  }

  start(): void {
    void this.#look().finally(() => {
      if (!this.#isStopped) this.#timer = setTimeout(() => this.start(), LOOK_AGAIN_MS).unref();
    });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      const available = (await this.#lanes.read()).filter(({ isAvailable }) => isAvailable);
      // Keeps the same account while it is available: payers have signed its address.
      const isThere = available.some(({ address }) => address === this.#address);
      if (!isThere) this.#address = available[0]?.address ?? null;
    } catch {
      // If the journal is unavailable, so is the ledger: payments are answered 503 until both are back.
    }
  }
}
