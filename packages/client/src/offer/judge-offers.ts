import { formatTokenAmount, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { WalletReads } from '../account/signers.js';
import { isSignable, methodOfOffer, wayOf, type Offer, type PaymentWay } from './signable-requirement.js';
import { isInAsset, type TrustedAsset } from './trusted-asset.js';

/** What is read of a wallet before an offer is chosen. */
export interface ReadWallet extends WalletReads {
  readonly chainId: number;
}

/** The limits of a payment, and the wallets that may make it. */
export interface PayingLimits<OneWallet extends ReadWallet> {
  /** Preferred ones first. */
  readonly assets: readonly TrustedAsset[];
  /** Decimal text in the asset's unit. */
  readonly maxAmount: string;
  /** One a chain. */
  readonly wallets: readonly OneWallet[];
  readonly way?: PaymentWay | undefined;
}

/** An offer within the limits, and the wallet of its chain. */
export interface AllowedOffer<OneWallet extends ReadWallet = ReadWallet, Requirement extends Offer = Offer> {
  requirement: Requirement;
  asset: TrustedAsset;
  amountBaseUnits: bigint;
  wallet: OneWallet;
}

/** An offer that is not paid, and why. */
export interface SkippedOffer {
  requirement: Offer;
  problem: PaymentError;
}

/** The offers in the order of `assets`, and those of one asset in that of the server; last the ones in no asset. */
export function judgeOffers<OneWallet extends ReadWallet>(
  accepts: readonly Offer[],
  limits: PayingLimits<OneWallet>,
): (AllowedOffer<OneWallet> | SkippedOffer)[] {
  const ranked = accepts.map((requirement) => {
    const at = limits.assets.findIndex((asset) => isInAsset(asset, requirement));
    return { requirement, at: at === -1 ? limits.assets.length : at };
  });
  ranked.sort((one, other) => one.at - other.at);
  return ranked.map(({ requirement, at }) => judge(requirement, limits.assets[at], limits));
}

function judge<OneWallet extends ReadWallet>(
  requirement: Offer,
  asset: TrustedAsset | undefined,
  { maxAmount, wallets, way }: PayingLimits<OneWallet>,
): AllowedOffer<OneWallet> | SkippedOffer {
  const skip = (problem: PaymentError): SkippedOffer => ({ requirement, problem });
  if (asset === undefined)
    return skip(createUntrusted(`This client may not pay with ${nameAsset(requirement)} to ${requirement.payTo}.`));
  const wallet = wallets.find(({ chainId }) => chainId === asset.chainId);
  if (wallet === undefined)
    return skip(createUntrusted(`No wallet is on chain ${asset.chainId}, to pay with ${nameAsset(requirement)}.`));
  if (way !== undefined && wayOf(requirement) !== way)
    return skip(
      createUntrusted(
        `This payment is to be made by ${way}, and the offer of ${nameAsset(requirement)} is paid by ${wayOf(requirement)}.`,
      ),
    );
  const amountBaseUnits = BigInt(requirement.maxAmountRequired);
  const limit = asset.maxAmount ?? maxAmount;
  if (amountBaseUnits > parseTokenAmount(limit, asset.decimals))
    return skip(createOverLimit(requirement, formatTokenAmount(amountBaseUnits, asset.decimals), limit));
  if (isSignable(requirement) && wallet[methodOfOffer(requirement).signer] === undefined)
    return skip(
      new PaymentError(
        'cannot_pay',
        `The wallet of chain ${asset.chainId} cannot sign ${methodOfOffer(requirement).signer}.`,
      ),
    );
  return { requirement, asset, amountBaseUnits, wallet };
}

/** A server may name its network as it likes. */
const MAX_NETWORK_LENGTH = 64;

function nameAsset({ asset, network }: Offer): string {
  return `${asset} on ${network.slice(0, MAX_NETWORK_LENGTH)}`;
}

function createUntrusted(message: string): PaymentError {
  return new PaymentError('no_trusted_requirement', message, {
    hint: "Compare the server's offers with `assets`, and their chains with those of the wallets.",
  });
}

function createOverLimit(requirement: Offer, price: string, maxAmount: string): PaymentError {
  const asked = `The server asks for ${price} of ${nameAsset(requirement)}`;
  return new PaymentError('over_limit', `${asked}, which is more than the limit of ${maxAmount}.`, {
    hint: 'Raise maxAmount if the price is acceptable.',
    details: { price, maxAmount },
  });
}
