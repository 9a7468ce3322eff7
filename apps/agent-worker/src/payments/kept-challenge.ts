import type { Offer } from '@tollgate/client';
import { createPaymentCall, isCharge, isSignable, parseStoredRequirement } from '@tollgate/client/internal';
import type { JobRecord, JsonValue, SignedStep, StepRecord } from '@tollgate/journal';
import { recipientOf, signedAmountOf, withSignature } from '@tollgate/protocol';

/** Everything needed to redeem a payment after any crash; stored in the journal before the payment can be signed. */
export interface KeptChallenge {
  /** The request as it was sent, and as it will be repeated with the proof. */
  url: string;
  requirement: Offer;
  /** Taken before the request, on this worker's clock, so the server's own payment deadline started later. */
  fetchedAtMs: number;
  idempotencyKey: string;
  /** The number of the signature that it is for: one that took the place of a void one answers a challenge of its own. */
  signature: number;
}

const NAME = /^challenge-([0-9]{1,9})$/;
/** Texts for display. Since an untrusted server wrote them, they are cut to this length. */
const MAX_TEXT_LENGTH = 200;

export function nameChallenge(number: number): string {
  return `challenge-${number}`;
}

export function writeChallenge({ requirement, ...rest }: KeptChallenge): JsonValue {
  return { ...rest, requirement: shorten(requirement) };
}

/** All but a reference is sent back as it came. */
function shorten(requirement: Offer): JsonValue {
  if (isSignable(requirement) || isCharge(requirement)) return requirement as unknown as JsonValue;
  const { description, resource, mimeType, extra, ...terms } = requirement;
  const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH);
  const texts = { description: cut(description), resource: cut(resource), mimeType: cut(mimeType) };
  return { ...terms, ...texts, extra: { ...extra, name: cut(extra.name), version: cut(extra.version) } };
}

/** @throws TypeError, or any error of the requirement parser, for text that `writeChallenge` did not write */
export function parseKeptChallenge(value: JsonValue): KeptChallenge {
  if (typeof value !== 'object' || value === null) throw new TypeError('a stored challenge is not an object');
  const { url, fetchedAtMs, idempotencyKey, signature, requirement } = value as Record<string, JsonValue | undefined>;
  if (typeof url !== 'string' || typeof fetchedAtMs !== 'number' || typeof idempotencyKey !== 'string') {
    throw new TypeError('a stored challenge lacks its url, its time or its key');
  }
  if (typeof signature !== 'number') throw new TypeError('a stored challenge does not say what it is for');
  return { url, fetchedAtMs, idempotencyKey, signature, requirement: parseStoredRequirement(requirement) };
}

/** Every challenge of a job, the newest first. */
export function listChallenges({
  details,
}: Pick<JobRecord, 'details'>): { number: number; challenge: KeptChallenge }[] {
  return Object.entries(details)
    .flatMap(([name, value]) => {
      const number = NAME.exec(name)?.[1];
      return number === undefined ? [] : [{ number: Number(number), challenge: parseKeptChallenge(value) }];
    })
    .sort((one, other) => other.number - one.number);
}

/** The challenge that a step's transfer pays: the signed transfer decides, not the latest stored challenge. */
export function findPaidChallenge(
  job: Pick<JobRecord, 'details'>,
  { to, data }: Pick<StepRecord, 'to' | 'data'>,
): KeptChallenge | null {
  return findChallenge(job, ({ requirement }) => {
    if (isSignable(requirement)) return false;
    const call = createPaymentCall(requirement);
    return call.to.toLowerCase() === to.toLowerCase() && call.data === data.toLowerCase();
  });
}

/** The challenge that a step's signature pays: none is stored for it once it is signed, so it is the newest of its number. */
export function findSignedChallenge(
  job: Pick<JobRecord, 'details'>,
  { signs, signature: { number, bytes } }: SignedStep,
): KeptChallenge | null {
  const signed = withSignature(signs, bytes);
  const newest = findChallenge(job, ({ signature }) => signature === number);
  if (newest === null) return null;
  const { payTo, maxAmountRequired } = newest.requirement;
  const isPaid =
    payTo.toLowerCase() === recipientOf(signed) && BigInt(maxAmountRequired) === BigInt(signedAmountOf(signed));
  return isPaid ? newest : null;
}

function findChallenge(
  job: Pick<JobRecord, 'details'>,
  isIt: (challenge: KeptChallenge) => boolean,
): KeptChallenge | null {
  return listChallenges(job).find(({ challenge }) => isIt(challenge))?.challenge ?? null;
}
