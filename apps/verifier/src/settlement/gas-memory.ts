import type { Hex } from '@tollgate/protocol';

/** What a transaction takes before it calls anybody. */
const BASE_GAS = 21_000n;
/** For a receiver or a payer whom the token meets for the first time. */
const SLACK_PERCENT = 35n;
/** The same for several of them in one transaction that nobody tries. */
const UNTRIED_SLACK_PERCENT = 100n;

/**
 * How much gas settling one payment takes, by token, as learned from receipts: estimating each time would run every
 * payment a dozen times over. What is guessed too low is found out when the transaction is tried, before it is sent.
 */
export class GasMemory {
  readonly #byAsset = new Map<Hex, bigint>();

  /** @param cap for one payment, and where nothing is known yet */
  constructor(private readonly cap: bigint) {}

  /** The gas to offer for a transaction that settles payments in these tokens, one each. */
  limitFor(assets: readonly Hex[]): bigint {
    return this.#add(
      assets.map((asset) => this.#byAsset.get(asset) ?? this.cap),
      SLACK_PERCENT,
    );
  }

  /** The same where it is not tried as a whole before it is sent; null while too little is known for that. */
  limitForUntried(assets: readonly Hex[]): bigint | null {
    const known = assets.flatMap((asset) => this.#byAsset.get(asset) ?? []);
    return known.length < assets.length ? null : this.#add(known, UNTRIED_SLACK_PERCENT);
  }

  #add(own: readonly bigint[], slackPercent: bigint): bigint {
    return BASE_GAS + own.reduce((sum, gas) => sum + least((gas * (100n + slackPercent)) / 100n, this.cap), 0n);
  }

  /** Of a transaction that settled so many payments, all in this token and none in vain. */
  learn(asset: Hex, gasUsed: bigint, count: number): void {
    const each = (gasUsed - BASE_GAS) / BigInt(count) + 1n;
    const known = this.#byAsset.get(asset);
    if (known === undefined || each > known) this.#byAsset.set(asset, each);
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
