import {
  decodeJsonHeader,
  isRecord,
  ownField,
  parseChallenge,
  PAYMENT_REQUIRED,
  PaymentError,
  signedMethodOf,
} from '@tollgate/protocol';

import { listPayingMethods, type X402Requirement } from '../methods/registry.js';
import { readCharges } from '../offer/charge-requirement.js';
import { readChallengeBody } from '../offer/read-challenge.js';
import { isSignable, methodOfOffer, parseSignableRequirement, type Offer } from '../offer/signable-requirement.js';

/** As many as the challenges of transfers may have. */
const MAX_REQUIREMENTS = 32;
const MAX_HEADER_BYTES = 64 * 1024;

export interface Offers {
  accepts: readonly Offer[];
}

/**
 * Returns the offers that can be parsed, and skips the others, because a server may offer schemes that this client does
 * not know.
 */
function readEach<T>(candidates: unknown, read: (candidate: unknown) => T): T[] {
  if (!Array.isArray(candidates)) return [];
  return candidates.slice(0, MAX_REQUIREMENTS).flatMap((candidate: unknown) => {
    try {
      return [read(candidate)];
    } catch (error) {
      if (error instanceof PaymentError) return [];
      throw error;
    }
  });
}

/** Version 2 is in a header; null if there is no such challenge. */
function readSignablesV2(header: string | null): X402Requirement[] | null {
  if (header === null) return null;
  try {
    const value = decodeJsonHeader(header, MAX_HEADER_BYTES);
    if (ownField(value, 'x402Version') !== 2) return null;
    const [resource, extensions] = [ownField(value, 'resource'), ownField(value, 'extensions')];
    const envelope = { ...(resource !== undefined && { resource }), ...(extensions !== undefined && { extensions }) };
    return readEach(ownField(value, 'accepts'), (offer) => parseSignableRequirement(offer, 2, envelope));
  } catch (error) {
    if (error instanceof PaymentError) return null;
    throw error;
  }
}

function readSignablesV1(body: unknown): X402Requirement[] {
  if (!isRecord(body) || ownField(body, 'x402Version') !== 1) return [];
  return readEach(ownField(body, 'accepts'), (offer) => parseSignableRequirement(offer, 1));
}

/** Offers that charge by use come first, then those that need no allowance; otherwise in the order of the server. */
function rank(requirement: X402Requirement): number {
  if (requirement.scheme === 'upto') return 0;
  return signedMethodOf(methodOfOffer(requirement)).spender === null ? 1 : 2;
}

/** Whether it names a challenge that no transfer of the body is for: the gate offers several assets, and the body has one. */
function isOfAnotherOption({ sent }: X402Requirement, transferred: ReadonlySet<unknown>): boolean {
  const accepted = ownField(sent, 'accepted');
  const extra = isRecord(accepted) ? ownField(accepted, 'extra') : undefined;
  const reference = isRecord(extra) ? ownField(extra, 'reference') : undefined;
  return typeof reference === 'string' && !transferred.has(reference);
}

export interface OfferTerms {
  /** For the whole 402. */
  timeoutMs: number;
  /** Where a payment may get lost: a lost transfer is money that is gone. */
  prefersSignatures: boolean;
  /** Whether the request has an `Authorization` of its own; default false. */
  sendsAuthorization?: boolean;
}

/**
 * Reads the offers of a 402; of one asset the preferred ones come first. For a gate that gives references: by use if it
 * offers that, otherwise by transfers locked to its references, and its other offers of x402 for the same references are
 * ignored, or come first where `prefersSignatures`. For any other server: by payments that a wallet signs. Offers of MPP come last, but before any
 * transfer where `prefersSignatures`: they do not state the token's EIP-712 domain, and a server of both protocols asks
 * the same price in each.
 * @throws PaymentError `malformed_challenge` when there is nothing to choose from
 */
export async function readOffers(
  response: Response,
  { timeoutMs, prefersSignatures, sendsAuthorization = false }: OfferTerms,
): Promise<Offers> {
  const { accepts: charges, problems } = readCharges(response.headers.get('WWW-Authenticate'), sendsAuthorization);
  const inOrder = (accepts: readonly Offer[]): Offers => ({
    accepts: prefersSignatures
      ? [...accepts.filter(isSignable), ...accepts.filter((offer) => !isSignable(offer))]
      : accepts,
  });
  const signableV2 = readSignablesV2(response.headers.get(PAYMENT_REQUIRED));
  signableV2?.sort((one, other) => rank(one) - rank(other));
  const body = await readChallengeBody(response, timeoutMs).catch((error: unknown) => {
    if (!signableV2?.length && charges.length === 0 && problems.length === 0) throw error;
    return null;
  });
  try {
    const { accepts } = parseChallenge(body);
    const transferred = new Set<unknown>(accepts.map(({ extra }) => extra.reference));
    const signed = (signableV2 ?? []).filter(
      (offer) => prefersSignatures || offer.scheme === 'upto' || isOfAnotherOption(offer, transferred),
    );
    return inOrder([...signed, ...accepts, ...charges]);
  } catch (error) {
    const accepts = [...(signableV2 ?? []), ...readSignablesV1(body), ...charges];
    if (accepts.length > 0) return inOrder(accepts);
    if (signableV2 === null && charges.length === 0 && problems.length === 0) throw error;
    throw new PaymentError('malformed_challenge', 'The payment challenge offers nothing that this client can pay.', {
      hint: `It supports ${listPayingMethods()
        .map(({ pays }) => pays)
        .join(', ')}, and EVM charges of MPP.`,
      details: { problems },
    });
  }
}
