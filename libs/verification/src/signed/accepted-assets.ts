import type { ChainReader } from '@tollgate/chain';
import type { SignedPaymentTerms } from '@tollgate/common';
import { hashTokenDomain, type Hex, type TokenDomain } from '@tollgate/protocol';

import { PaymentRefused } from '../refusals.js';

/** The tokens accepted for signed payments, each with the EIP-712 domain of its authorizations. */
export class AcceptedAssets {
  private readonly domains: ReadonlyMap<Hex, TokenDomain & { separator: Hex }>;

  constructor(
    readonly chainId: number,
    assets: readonly Omit<TokenDomain, 'chainId'>[],
  ) {
    this.domains = new Map(
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
    const domain = this.domains.get(asset);
    if (domain === undefined) throw new PaymentRefused('wrong_network');
    return domain.name === assetName && domain.version === assetVersion ? domain.separator : null;
  }

  /** The tokens whose contract reports another domain: payments signed for the configured one would be refused. */
  async findMisnamed(chain: ChainReader, deadlineMs: number): Promise<TokenDomain[]> {
    const domains = [...this.domains.values()];
    const separators = await Promise.all(domains.map(({ asset }) => chain.readDomainSeparator(asset, deadlineMs)));
    return domains.filter(({ separator }, index) => (separators[index] ?? separator) !== separator);
  }
}
