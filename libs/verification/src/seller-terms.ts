import type { Hex } from '@tollgate/protocol';

/** A token that the seller accepts, and the account that it is paid to. Addresses are lower case. */
export interface OptionTerms {
  readonly asset: Hex;
  readonly payTo: Hex;
}

/** What the seller accepts on the chain of this process: each token once. */
export class SellerTerms {
  readonly #payToOf: ReadonlyMap<Hex, Hex>;
  readonly #accounts: ReadonlySet<Hex>;

  constructor(
    readonly chainId: number,
    options: readonly OptionTerms[],
  ) {
    this.#payToOf = new Map(options.map(({ asset, payTo }) => [asset, payTo]));
    this.#accounts = new Set(this.#payToOf.values());
  }

  /** Whether chain, token and recipient are those of one option. */
  include({ chainId, asset, payTo }: OptionTerms & { chainId: number }): boolean {
    return chainId === this.chainId && this.isOption({ asset, payTo });
  }

  /** Whether token and recipient are those of one option. */
  isOption({ asset, payTo }: OptionTerms): boolean {
    return this.#payToOf.get(asset) === payTo;
  }

  /**
   * Whether money went to the seller, and is not another's to refund: to the account of the token's option, or, in a token
   * that only the facilitator settles, to an account of any option.
   */
  isOwn({ asset, payTo }: OptionTerms): boolean {
    const own = this.#payToOf.get(asset);
    return own === undefined ? this.#accounts.has(payTo) : own === payTo;
  }
}
