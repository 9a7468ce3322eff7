import {
  caip2Of,
  formatTokenAmount,
  parseTokenAmount,
  PaymentError,
  v1NetworkOf,
  type Hex,
  type PaymentRequirement,
} from '@tollgate/protocol';

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
}

/** The fields on which the choice depends. */
type Asked = Pick<PaymentRequirement, 'network' | 'asset' | 'payTo' | 'maxAmountRequired'>;

export interface ChosenRequirement<Requirement extends Asked = PaymentRequirement> {
  requirement: Requirement;
  asset: TrustedAsset;
  amountBaseUnits: bigint;
}

const isSameAddress = (one: Hex, other: Hex): boolean => one.toLowerCase() === other.toLowerCase();

function isOnNetwork({ network, chainId }: TrustedAsset, asked: string): boolean {
  return [network, caip2Of(chainId), v1NetworkOf(chainId)].includes(asked);
}

function findAsset(requirement: Asked, assets: readonly TrustedAsset[]): TrustedAsset | undefined {
  return assets.find(
    (asset) =>
      isOnNetwork(asset, requirement.network) &&
      isSameAddress(asset.address, requirement.asset) &&
      (asset.payTo === undefined || isSameAddress(asset.payTo, requirement.payTo)),
  );
}

interface ChoiceTerms {
  assets: readonly TrustedAsset[];
  /** Decimal text in the asset's unit. */
  maxAmount: string;
  chainId: number;
}

/**
 * The requirements in a trusted asset that cost at most `maxAmount`, in the order of the challenge.
 * @throws PaymentError `no_trusted_requirement` or `over_limit` if there is none
 */
export function listWithinLimits<Requirement extends Asked>(
  challenge: { accepts: readonly Requirement[] },
  { assets, maxAmount, chainId }: ChoiceTerms,
): [ChosenRequirement<Requirement>, ...ChosenRequirement<Requirement>[]] {
  const chosen: ChosenRequirement<Requirement>[] = [];
  let dearest: string | undefined;
  for (const requirement of challenge.accepts) {
    const asset = findAsset(requirement, assets);
    if (asset?.chainId !== chainId) continue;
    const amountBaseUnits = BigInt(requirement.maxAmountRequired);
    if (amountBaseUnits <= parseTokenAmount(maxAmount, asset.decimals))
      chosen.push({ requirement, asset, amountBaseUnits });
    else dearest = formatTokenAmount(amountBaseUnits, asset.decimals);
  }
  const [first, ...others] = chosen;
  if (first) return [first, ...others];
  if (dearest !== undefined) {
    throw new PaymentError(
      'over_limit',
      `The server asks for ${dearest}, which is more than the limit of ${maxAmount}.`,
      {
        hint: 'Raise maxAmount if the price is acceptable.',
        details: { price: dearest, maxAmount },
      },
    );
  }
  const offered = challenge.accepts.map(({ network, asset, payTo }) => ({ network, asset, payTo }));
  throw new PaymentError('no_trusted_requirement', 'The server accepts no asset that this client may pay with.', {
    hint: `Compare its offers with \`assets\`, and the wallet's chain ${chainId} with theirs.`,
    details: { offered },
  });
}
