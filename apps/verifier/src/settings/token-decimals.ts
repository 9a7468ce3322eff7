import type { ChainReader } from '@tollgate/chain';
import { ConfigurationError } from '@tollgate/config';
import type { Hex } from '@tollgate/protocol';

export interface TokenDecimalsOptions {
  asset: Hex;
  /** ASSET_DECIMALS */
  decimals: number;
  chain: Pick<ChainReader, 'readDecimals'>;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

const ANSWERS_WITHIN_MS = 1_500;

/** Checks ASSET_DECIMALS against the token: a wrong value makes prices wrong by powers of ten. */
export class TokenDecimals {
  #isCompared = false;

  constructor(private readonly options: TokenDecimalsOptions) {}

  /**
   * Asks the chain until it has answered once. A token need not implement `decimals()`.
   * @throws ConfigurationError where they differ, ChainUnavailableError
   */
  async assertEqual(): Promise<void> {
    if (this.#isCompared) return;
    const { asset, decimals, chain, nowMs } = this.options;
    const reported = await chain.readDecimals(asset, nowMs() + ANSWERS_WITHIN_MS);
    if (reported !== null && reported !== BigInt(decimals)) {
      throw new ConfigurationError([
        `ASSET_DECIMALS is ${decimals}, but the token at ${asset} has ${reported}. Set it to ${reported} for gateways and verifiers.`,
      ]);
    }
    this.#isCompared = true;
  }
}
