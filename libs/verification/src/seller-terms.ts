import type { Hex } from '@tollgate/protocol';

/** A token that the seller accepts, and the account that it is paid to. Addresses are lower case. */
export interface OptionTerms {
  readonly asset: Hex;
  readonly payTo: Hex;
}

/** What the seller accepts on the chain of this process. */
export class SellerTerms {
  readonly #payTosOf = new Map<Hex, Set<Hex>>();
  readonly #accounts: ReadonlySet<Hex>;

  constructor(
    readonly chainId: number,
    options: readonly OptionTerms[],
  ) {
    for (const { asset, payTo } of options)
      this.#payTosOf.set(asset, (this.#payTosOf.get(asset) ?? new Set()).add(payTo));
    this.#accounts = new Set(options.map(({ payTo }) => payTo));
  }

  /** Whether chain, token and recipient are those of one option. */
  include({ chainId, asset, payTo }: OptionTerms & { chainId: number }): boolean {
    return chainId === this.chainId && this.isOption({ asset, payTo });
  }

  /** Whether token and recipient are those of one option. */
  isOption({ asset, payTo }: OptionTerms): boolean {
    return this.#payTosOf.get(asset)?.has(payTo) === true;
  }

  /**
   * Whether money went to the seller, and is not another's to refund: to an account of the token's options, or, in a token
   * that only the facilitator settles, to an account of any option.
   */
  isOwn({ asset, payTo }: OptionTerms): boolean {
    return (this.#payTosOf.get(asset) ?? this.#accounts).has(payTo);
  }
}
