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
  /** The one of `assets` that it asks for; null: none. */
  asset: TrustedAsset | null;
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
  if (asset === undefined) return { requirement, asset: null, problem: createUnlisted(requirement) };
  const skip = (problem: PaymentError): SkippedOffer => ({ requirement, asset, problem });
  const { chainId, address } = asset;
  const token = `${address} on chain ${chainId}`;
  const wallet = wallets.find((one) => one.chainId === chainId);
  if (wallet === undefined) return skip(createUntrusted(`No wallet is on its chain, to pay with ${token}.`));
  const own = wayOf(requirement);
  if (way !== undefined && own !== way)
    return skip(createUntrusted(`This payment is to be made by ${way}, and the offer of ${token} is paid by ${own}.`));
  const amountBaseUnits = BigInt(requirement.maxAmountRequired);
  const limit = asset.maxAmount ?? maxAmount;
  if (amountBaseUnits > parseTokenAmount(limit, asset.decimals))
    return skip(createOverLimit(token, formatTokenAmount(amountBaseUnits, asset.decimals), limit));
  const signer = isSignable(requirement) ? methodOfOffer(requirement).signer : null;
  if (signer !== null && wallet[signer] === undefined)
    return skip(new PaymentError('cannot_pay', `The wallet cannot sign ${signer}, to pay with ${token}.`));
  return { requirement, asset, amountBaseUnits, wallet };
}

/** A server may name its network as it likes, also by lines that look like the client's own. */
const NETWORK_NAME = /^[\w.:-]{1,64}$/;

function createUnlisted({ network, asset, payTo }: Offer): PaymentError {
  const token = `${asset} on ${NETWORK_NAME.test(network) ? network : 'a network of another name'}`;
  return createUntrusted(`This client may not pay with ${token} to ${payTo}.`);
}

function createUntrusted(message: string): PaymentError {
  return new PaymentError('no_trusted_requirement', message, {
    hint: "Compare the server's offers with `assets`, and their chains with those of the wallets.",
  });
}

function createOverLimit(token: string, price: string, maxAmount: string): PaymentError {
  const message = `The server asks for ${price} of ${token}, which is more than the limit of ${maxAmount}.`;
  return new PaymentError('over_limit', message, {
    hint: 'Raise maxAmount if the price is acceptable.',
    details: { price, maxAmount },
  });
}
