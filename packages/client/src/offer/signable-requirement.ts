import {
  isAddress,
  isRecord,
  lowerHex,
  ownField,
  parseRequirementTerms,
  PaymentError,
  type Hex,
  type JsonRecord,
  type PaymentRequirement,
} from '@tollgate/protocol';

import type { AuthorizableCharge, TransferableCharge } from './charge-requirement.js';

/** A requirement of x402 that is paid by a signature: the payer sends no transaction. */
interface SignedTerms {
  x402Version: 1 | 2;
  /** The network's name in version 1, its CAIP-2 id in version 2. */
  network: string;
  /** Decimal integer in base units of the asset. */
  maxAmountRequired: string;
  payTo: Hex;
  maxTimeoutSeconds: number;
  asset: Hex;
  /** Version 2: `accepted`, `resource` and `extensions`, which are sent back. */
  sent: JsonRecord;
}

/** Paid by an EIP-3009 authorization. */
export interface AuthorizableRequirement extends SignedTerms {
  scheme: 'exact';
  /** The token's EIP-712 domain, as given by the server. */
  extra: { name: string; version: string };
}

/** Paid by Permit2. Under `upto` the amount is a maximum, and only the given facilitator may settle it. */
export type PermittableRequirement = SignedTerms &
  (
    | { scheme: 'exact'; extra: { name: string | null; assetTransferMethod: 'permit2' } }
    | { scheme: 'upto'; extra: { name: string | null; assetTransferMethod: 'permit2'; facilitatorAddress: Hex } }
  );

export type X402Requirement = AuthorizableRequirement | PermittableRequirement;

/** Paid by a signature, which the server or its facilitator settles. */
export type SignableRequirement = X402Requirement | AuthorizableCharge;

/** Paid by a transfer of the wallet, locked to a reference. */
export type TransferRequirement = PaymentRequirement | TransferableCharge;

/** What a server offers, in one of the ways in which this client can pay. */
export type Offer = TransferRequirement | SignableRequirement;

export const isSignable = (requirement: Offer): requirement is SignableRequirement =>
  !('reference' in requirement.extra);

export const isPermittable = (requirement: SignableRequirement): requirement is PermittableRequirement =>
  'assetTransferMethod' in requirement.extra;

/** How an offer is paid: by a transaction of the wallet, or by a signature that the server has settled. */
export type PaymentWay = 'transfer' | 'authorization' | 'permit2';

export function wayOf(requirement: Offer): PaymentWay {
  if (!isSignable(requirement)) return 'transfer';
  return isPermittable(requirement) ? 'permit2' : 'authorization';
}

/** The server's spelling may have an invalid mixed-case checksum. */

function refuse(why: string): never {
  throw new PaymentError('malformed_challenge', `The payment requirement ${why}.`);
}

/**
 * Parses one element of `accepts`. `envelope`: the fields of a version 2 challenge beside `accepts`.
 * @throws PaymentError `malformed_challenge` when a signature cannot pay it.
 */
export function parseSignableRequirement(
  value: unknown,
  x402Version: 1 | 2,
  envelope: { resource?: unknown; extensions?: unknown } = {},
): X402Requirement {
  const sent = x402Version === 2 ? { accepted: value, ...envelope } : {};
  return parseTerms(value, { x402Version, amountVersion: x402Version, sent });
}

/**
 * Parses a stored requirement.
 * @throws TypeError or PaymentError when it is invalid.
 */
export function parseStoredSignable(value: JsonRecord): X402Requirement {
  const [x402Version, sent] = [ownField(value, 'x402Version'), ownField(value, 'sent')];
  if ((x402Version !== 1 && x402Version !== 2) || !isRecord(sent)) throw new TypeError('requirement has no version');
  return parseTerms(value, { x402Version, amountVersion: 1, sent });
}

/** `amountVersion`: the protocol version whose field holds the amount. */
function parseTerms(
  value: unknown,
  { x402Version, amountVersion, sent }: Pick<SignedTerms, 'x402Version' | 'sent'> & { amountVersion: 1 | 2 },
): X402Requirement {
  const terms = parseRequirementTerms(value, amountVersion);
  const { scheme, network, amountBaseUnits: maxAmountRequired, payTo, maxTimeoutSeconds, asset } = terms;
  const common = { x402Version, network, maxAmountRequired, payTo, maxTimeoutSeconds, asset, sent };
  const extra = isRecord(value) ? ownField(value, 'extra') : undefined;
  const said = isRecord(extra) ? extra : {};
  const method = ownField(said, 'assetTransferMethod');
  const { assetName: name, assetVersion: version } = terms;

  // Version 1 has no other scheme, and only EIP-3009.
  if (scheme === 'upto' && x402Version === 2) {
    const facilitatorAddress = ownField(said, 'facilitatorAddress');
    if (method !== undefined && method !== 'permit2') return refuse('is not paid by Permit2');
    if (!isAddress(facilitatorAddress)) return refuse('does not name the facilitator that may settle it');
    const extra = { name, assetTransferMethod: 'permit2', facilitatorAddress: lowerHex(facilitatorAddress) } as const;
    return { ...common, scheme, extra };
  }
  if (scheme !== 'exact') return refuse(`is of scheme "${scheme}"`);
  if (method === 'permit2' && x402Version === 2)
    return { ...common, scheme, extra: { name, assetTransferMethod: method } };
  if (method !== undefined && method !== 'eip3009') return refuse('is not paid by EIP-3009');
  if (name === null || version === null) return refuse('has no EIP-712 domain of its asset');
  return { ...common, scheme, extra: { name, version } };
}
