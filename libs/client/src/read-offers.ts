import {
  decodeJsonHeader,
  isRecord,
  ownField,
  parseChallenge,
  PAYMENT_REQUIRED,
  PaymentError,
  type PaymentRequirement,
} from '@tollgate/protocol';

import { readChallengeBody } from './read-challenge.js';
import { isPermittable, parseSignableRequirement, type SignableRequirement } from './signable-requirement.js';
import type { Wallet } from './wallet.js';

/** As in challenges that are read for transfers. */
const MAX_REQUIREMENTS = 32;
const MAX_HEADER_BYTES = 64 * 1024;

export interface Offers {
  accepts: readonly (PaymentRequirement | SignableRequirement)[];
}

/** What reads is kept, what does not is left out: a server may offer more than we know. */
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

/** Version 2 stands in a header; null where there is no such challenge. */
function readSignablesV2(header: string | null): SignableRequirement[] | null {
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

function readSignablesV1(body: unknown): SignableRequirement[] {
  if (!isRecord(body) || ownField(body, 'x402Version') !== 1) return [];
  return readEach(ownField(body, 'accepts'), (offer) => parseSignableRequirement(offer, 1));
}

/** What is paid as it was used comes first, then what wants no allowance; otherwise in the order of the server. */
function rank(requirement: SignableRequirement): number {
  if (requirement.scheme === 'upto') return 0;
  return isPermittable(requirement) ? 2 : 1;
}

/**
 * Reads what a 402 offers, in the order in which it is to be preferred. A gate that gives references is paid for what
 * was used where it offers that, otherwise by transfers that are locked to them, and its offers in other words are left
 * out; any other server by what the wallet signs.
 * @throws PaymentError `malformed_challenge` where there is nothing to choose from
 */
export async function readOffers(
  response: Response,
  { authorizations, permits }: Pick<Wallet, 'authorizations' | 'permits'>,
  timeoutMs: number,
): Promise<Offers> {
  const canSign = (requirement: SignableRequirement): boolean =>
    (isPermittable(requirement) ? permits : authorizations) !== undefined;
  const readV2 = readSignablesV2(response.headers.get(PAYMENT_REQUIRED));
  const signableV2 = readV2 && readV2.filter(canSign).sort((one, other) => rank(one) - rank(other));
  const body = await readChallengeBody(response, timeoutMs).catch((error: unknown) => {
    if (!signableV2?.length) throw error;
    return null;
  });
  try {
    const { accepts } = parseChallenge(body);
    return { accepts: [...(signableV2 ?? []).filter(({ scheme }) => scheme === 'upto'), ...accepts] };
  } catch (error) {
    const accepts = [...(signableV2 ?? []), ...readSignablesV1(body).filter(canSign)];
    if (accepts.length > 0) return { accepts };
    if (signableV2 === null) throw error;
    throw new PaymentError('malformed_challenge', 'The payment challenge offers nothing that this client can pay.', {
      hint: 'It pays offers of scheme "exact" by EIP-3009 that name the domain of their asset, and by Permit2 those of "exact" and "upto".',
    });
  }
}
