import {
  caip2Of,
  challengeNonce,
  isChallenge,
  isRecord,
  ownField,
  parsePaymentChallenges,
  PAYMENT_AUTHORIZATION,
  PaymentError,
  readCharge,
  type Hex,
  type JsonRecord,
  type ReceivedChallenge,
  type ReceivedCharge,
} from '@tollgate/protocol';

/** A charge of MPP on an EVM chain, in the terms of an x402 requirement. */
interface ChargeTerms {
  scheme: 'charge';
  /** CAIP-2. */
  network: string;
  /** Decimal integer in base units of the asset. */
  maxAmountRequired: string;
  payTo: Hex;
  /** From when the challenge was read: until its end, or until a transfer must be on its way. */
  maxTimeoutSeconds: number;
  asset: Hex;
  /** Sent back with the payment. */
  challenge: ReceivedChallenge;
}

/** Paid by an EIP-3009 authorization whose nonce commits to the challenge. */
export interface AuthorizableCharge extends ChargeTerms {
  /** The token's EIP-712 domain, which MPP does not state: null until it is read from the chain. */
  extra: { name: string | null; version: string | null };
}

/** Paid by a transfer of the wallet, whose hash is presented. */
export interface TransferableCharge extends ChargeTerms {
  /** The challenge's id, to which the transfer is locked. Only a gate checks that; to others it is an attribution. */
  extra: { name: null; reference: string };
}

export type ChargeRequirement = AuthorizableCharge | TransferableCharge;

/** Of a challenge that names no end, as published clients assume. */
const USUAL_SECONDS = 300;
/** A transfer that is presented after the end of its challenge buys nothing: it must be mined before. */
const MINING_SECONDS = 15;
/** For the transfer to be signed too. */
const LEAST_TRANSFER_SECONDS = 30;
const MAX_PROBLEM_LENGTH = 200;

export const isCharge = <Requirement extends object>(
  requirement: Requirement,
): requirement is Extract<Requirement, ChargeRequirement> => 'challenge' in requirement;

function refuse(why: string): never {
  throw new PaymentError('malformed_challenge', `The payment challenge ${why}.`);
}

/** The header that a challenge names for its credential. The scheme has these two, and no server may name a third. */
export function credentialHeaderOf({ header = 'Authorization' }: ReceivedChallenge): string {
  const name = ['Authorization', PAYMENT_AUTHORIZATION].find((known) => known.toLowerCase() === header.toLowerCase());
  return name ?? refuse('names another header for the credential than the scheme has');
}

/**
 * The last second in which a payment for the challenge is taken, in Unix time; null where it does not say.
 * @throws PaymentError `malformed_challenge`
 */
export function endSecondsOf({ expires }: ReceivedChallenge): number | null {
  if (expires === undefined) return null;
  const endMs = Date.parse(expires);
  return Number.isNaN(endMs) ? refuse('has an end that is not a time') : Math.floor(endMs / 1000);
}

export interface Charges {
  /** In the order of the server; each by a signature, then by a transfer. */
  accepts: ChargeRequirement[];
  /** Why the others cannot be paid, one sentence for each. */
  problems: string[];
}

/**
 * The ways to pay the charges in a value of `WWW-Authenticate`.
 * @param sendsAuthorization whether `Authorization` has credentials of the caller, which those of a payment would replace
 */
export function readCharges(header: string | null, sendsAuthorization: boolean): Charges {
  const charges: Charges = { accepts: [], problems: [] };
  for (const challenge of parsePaymentChallenges(header ?? '')) {
    try {
      charges.accepts.push(...createRequirements(challenge, sendsAuthorization));
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error;
      charges.problems.push(error.message.slice(0, MAX_PROBLEM_LENGTH));
    }
  }
  return charges;
}

function createRequirements(challenge: ReceivedChallenge, sendsAuthorization: boolean): ChargeRequirement[] {
  const charge = readCharge(challenge);
  if (credentialHeaderOf(challenge) === 'Authorization' && sendsAuthorization)
    return refuse('wants its credential in `Authorization`, which the request has for the application');
  const endSeconds = endSecondsOf(challenge);
  const leftSeconds = endSeconds === null ? USUAL_SECONDS : endSeconds - Math.floor(Date.now() / 1000);
  // The draft's rule for servers that name no types.
  const types = charge.credentialTypes ?? ['hash'];
  const isSigned = types.includes('authorization');
  const isTransferred = types.includes('hash');
  if (!isSigned && !isTransferred) return refuse(`takes only credentials of the types ${types.join(', ')}`);
  if (leftSeconds < (isSigned ? 1 : LEAST_TRANSFER_SECONDS)) return refuse(`ends in ${leftSeconds} seconds`);
  const requirements: ChargeRequirement[] = [];
  if (isSigned)
    requirements.push({ ...createTerms(challenge, charge, leftSeconds), extra: { name: null, version: null } });
  if (isTransferred && leftSeconds >= LEAST_TRANSFER_SECONDS) {
    const terms = createTerms(challenge, charge, leftSeconds - MINING_SECONDS);
    requirements.push({ ...terms, extra: { name: null, reference: challenge.id } });
  }
  return requirements;
}

function createTerms(challenge: ReceivedChallenge, charge: ReceivedCharge, maxTimeoutSeconds: number): ChargeTerms {
  const { amount: maxAmountRequired, asset, payTo, chainId } = charge;
  const network = caip2Of(chainId);
  return { scheme: 'charge', network, maxAmountRequired, payTo, maxTimeoutSeconds, asset, challenge };
}

/** The newest challenges for which this process has paid, or is about to. */
const claimed = new Set<string>();
const MAX_CLAIMED = 4096;

/**
 * Claims a challenge for one payment: published servers derive its id from the price and the millisecond, so two requests
 * may get the same one, for which a server takes one payment only.
 * @returns null if another payment has it; otherwise call the result to return it when nothing was signed
 */
export function claimChallenge(payer: Hex, { challenge, network }: ChargeRequirement): (() => void) | null {
  const name = `${payer} ${network} ${challengeNonce(challenge)}`;
  if (claimed.has(name)) return null;
  claimed.add(name);
  const [oldest = name] = claimed;
  if (claimed.size > MAX_CLAIMED) claimed.delete(oldest);
  return () => claimed.delete(name);
}

/**
 * Parses a stored requirement.
 * @throws TypeError or PaymentError when it is invalid.
 */
export function parseStoredCharge(value: JsonRecord): ChargeRequirement {
  const challenge = ownField(value, 'challenge');
  const maxTimeoutSeconds = ownField(value, 'maxTimeoutSeconds');
  const extra = ownField(value, 'extra');
  if (!isChallenge(challenge) || typeof maxTimeoutSeconds !== 'number' || !isRecord(extra))
    throw new TypeError('requirement has no challenge');
  credentialHeaderOf(challenge);
  endSecondsOf(challenge);
  const terms = createTerms(challenge, readCharge(challenge), maxTimeoutSeconds);
  if (ownField(extra, 'reference') !== undefined) return { ...terms, extra: { name: null, reference: challenge.id } };
  const [name, version] = [ownField(extra, 'name'), ownField(extra, 'version')];
  const isRead = typeof name === 'string' && typeof version === 'string';
  return { ...terms, extra: isRead ? { name, version } : { name: null, version: null } };
}
