import {
  isRecord,
  ownField,
  parseRequirementTerms,
  PaymentError,
  signedMethodOf,
  type JsonRecord,
  type PaymentRequirement,
  type SignedMethods,
} from '@tollgate/protocol';

import { listPayingMethods, type AnyPayingMethod, type X402Requirement } from '../methods/registry.js';
import type { AuthorizableCharge, TransferableCharge } from './charge-requirement.js';

/** Paid by a signature, which the server or its facilitator settles. */
export type SignableRequirement = X402Requirement | AuthorizableCharge;

/** Paid by a transfer of the wallet, locked to a reference. */
export type TransferRequirement = PaymentRequirement | TransferableCharge;

/** What a server offers, in one of the ways in which this client can pay. */
export type Offer = TransferRequirement | SignableRequirement;

export const isSignable = (requirement: Offer): requirement is SignableRequirement =>
  !('reference' in requirement.extra);

/** How an offer is paid: by a transaction of the wallet, or by a method's signature that the server has settled. */
export type PaymentWay = 'transfer' | keyof SignedMethods;

export function wayOf(requirement: Offer): PaymentWay {
  return isSignable(requirement) ? methodOfOffer(requirement).kind : 'transfer';
}

/** The method that pays an offer; only the usual one of a scheme is not named in it. */
export function methodOfOffer({ extra }: SignableRequirement): AnyPayingMethod {
  const named = 'assetTransferMethod' in extra ? extra.assetTransferMethod : undefined;
  const methods = listPayingMethods();
  return methods.find((method) => transferMethodOf(method) === named) ?? (methods[0] as AnyPayingMethod);
}

const transferMethodOf = (method: AnyPayingMethod): string => signedMethodOf(method).transferMethod;

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
  { x402Version, amountVersion, sent }: Pick<X402Requirement, 'x402Version' | 'sent'> & { amountVersion: 1 | 2 },
): X402Requirement {
  const terms = parseRequirementTerms(value, amountVersion);
  const { scheme, network, amountBaseUnits: maxAmountRequired, payTo, maxTimeoutSeconds, asset } = terms;
  const common = { x402Version, network, maxAmountRequired, payTo, maxTimeoutSeconds, asset, sent };
  const own = isRecord(value) ? ownField(value, 'extra') : undefined;
  const extra = isRecord(own) ? own : {};
  const named = ownField(extra, 'assetTransferMethod');
  const methods = listPayingMethods().filter((one) => isPaidBy(one, scheme, x402Version));
  const [usual] = methods;
  if (usual === undefined) return refuse(`is of scheme "${scheme}"`);
  const method = named === undefined ? usual : methods.find((one) => transferMethodOf(one) === named);
  if (method === undefined) return refuse(`is not paid by ${signedMethodOf(usual).title}`);
  const read = method.read(common, { ...terms, extra });
  return typeof read === 'string' ? refuse(read) : read;
}

function isPaidBy(method: AnyPayingMethod, scheme: string, version: 1 | 2): boolean {
  const { schemes, versions } = signedMethodOf(method);
  return versions.includes(version) && schemes.some((known) => known === scheme);
}
