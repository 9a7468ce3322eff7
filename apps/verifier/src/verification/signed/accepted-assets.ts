import type { SignedPaymentTerms } from '@tollgate/common';
import { hashTokenDomain, type Hex, type TokenDomain } from '@tollgate/protocol';

import type { ChainReader } from '../../chain/chain-reader.js';
import { PaymentRefused } from '../payment-refused.js';

/** The tokens that signed payments may be in, each with the domain its authorizations are signed under. */
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
   * The EIP-712 domain separator of the asset that is asked for; null where chain or domain differ from those set up here,
   * which is no payer's fault. Refuses `wrong_network` for an asset that is not accepted at all.
   */
  findDomain({ chainId, asset, assetName, assetVersion }: SignedPaymentTerms): Hex | null {
    if (chainId !== this.chainId) return null;
    const domain = this.domains.get(asset);
    if (domain === undefined) throw new PaymentRefused('wrong_network');
    return domain.name === assetName && domain.version === assetVersion ? domain.separator : null;
  }

  /** The tokens that say on the chain that their domain is another: what is signed for them would be refused. */
  async findMisnamed(chain: ChainReader, deadlineMs: number): Promise<TokenDomain[]> {
    const domains = [...this.domains.values()];
    const separators = await Promise.all(domains.map(({ asset }) => chain.readDomainSeparator(asset, deadlineMs)));
    return domains.filter(({ separator }, index) => (separators[index] ?? separator) !== separator);
  }
}
