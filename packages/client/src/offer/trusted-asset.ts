import { caip2Of, v1NetworkOf, type Hex, type PaymentRequirement } from '@tollgate/protocol';

/** A token the caller is willing to pay with. A server's answer never adds to this list. */
export interface TrustedAsset {
  /**
   * The name that servers use for the network, for example `chain-testnet`; the published names of the chain are known.
   */
  network: string;
  chainId: number;
  address: Hex;
  decimals: number;
  /** If set, only this recipient is paid. */
  payTo?: Hex;
  /** The maximum of a single payment in this asset, as decimal text in its unit; if omitted, that of the options. */
  maxAmount?: string;
}

/** The names of a chain in offers: the server's, and those of the two versions of x402. */
export function networkNamesOf({ network, chainId }: Pick<TrustedAsset, 'network' | 'chainId'>): (string | null)[] {
  return [network, caip2Of(chainId), v1NetworkOf(chainId)];
}

const isSameAddress = (one: Hex, other: Hex): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether an offer asks for this asset, for a recipient that may be paid. */
export function isInAsset(
  { address, payTo, ...chain }: TrustedAsset,
  asked: Pick<PaymentRequirement, 'network' | 'asset' | 'payTo'>,
): boolean {
  return (
    networkNamesOf(chain).includes(asked.network) &&
    isSameAddress(address, asked.asset) &&
    (payTo === undefined || isSameAddress(payTo, asked.payTo))
  );
}
