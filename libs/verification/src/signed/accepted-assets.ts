import type { ChainReader } from '@tollgate/chain';
import { hashTokenDomain, type Hex, type TokenDomain } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import { PaymentRefused } from '../refusals.js';

/** A token whose EIP-712 domain is not the configured one. */
export interface MisnamedToken {
  readonly asset: Hex;
  /** As configured. */
  readonly name: string;
  readonly version: string;
  /** As the token states them, if it does. */
  readonly stated: { readonly name: string; readonly version: string } | null;
}

/** The tokens accepted for signed payments, each with the EIP-712 domain of its authorizations. */
export class AcceptedAssets {
  readonly #domains: ReadonlyMap<Hex, TokenDomain & { separator: Hex }>;
  #misnamed: readonly MisnamedToken[] = [];

  constructor(
    readonly chainId: number,
    assets: readonly Omit<TokenDomain, 'chainId'>[],
  ) {
    this.#domains = new Map(
      assets.map((asset) => {
        const domain = { ...asset, chainId };
        return [asset.asset, { ...domain, separator: hashTokenDomain(domain) }];
      }),
    );
  }

  /**
   * The EIP-712 domain separator of the requested asset; null when chain or domain differ from this verifier's
   * settings, which is not the payer's fault. Refuses `wrong_network` for an asset that is not accepted at all.
   */
  findDomain({ chainId, asset, assetName, assetVersion }: SignedPaymentTerms): Hex | null {
    if (chainId !== this.chainId) return null;
    const domain = this.#domains.get(asset);
    if (domain === undefined) throw new PaymentRefused('wrong_network');
    return domain.name === assetName && domain.version === assetVersion ? domain.separator : null;
  }

  /**
   * Compares the domains with those that the tokens state: payments signed for another one would be refused.
   * @throws ChainUnavailableError
   */
  async compare(chain: Pick<ChainReader, 'readTokenDomain'>, deadlineMs: number): Promise<readonly MisnamedToken[]> {
    const domains = [...this.#domains.values()];
    const stated = await Promise.all(domains.map(({ asset }) => chain.readTokenDomain(asset, deadlineMs)));
    this.#misnamed = domains.flatMap(({ asset, name, version, separator }, index) => {
      const said = stated[index] ?? null;
      return said === null || said.separator === separator ? [] : { asset, name, version, stated: said.named };
    });
    return this.#misnamed;
  }

  /** Whether signatures over authorizations of this token are made for another domain than its own. */
  isMisnamed(asset: Hex): boolean {
    return this.#misnamed.some((one) => one.asset === asset);
  }
}
