import { createPaymentCall } from '@tollgate/client/internal';
import type { JobRecord, JsonValue, StepRecord } from '@tollgate/journal';
import { parsePaymentRequirement, type PaymentRequirement } from '@tollgate/protocol';

/** Everything needed to redeem a payment after any crash; stored in the journal before the payment can be signed. */
export interface KeptChallenge {
  /** The request as it was sent, and as it will be repeated with the proof. */
  url: string;
  requirement: PaymentRequirement;
  /** Taken before the request, on this worker's clock, so the server's own payment deadline started later. */
  fetchedAtMs: number;
  idempotencyKey: string;
}

const NAME = /^challenge-([0-9]{1,9})$/;
/** Texts for display. Since an untrusted server wrote them, they are cut to this length. */
const MAX_TEXT_LENGTH = 200;

export function nameChallenge(number: number): string {
  return `challenge-${number}`;
}

export function writeChallenge({ requirement, ...rest }: KeptChallenge): JsonValue {
  const { description, resource, mimeType, extra, ...terms } = requirement;
  const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH);
  const texts = { description: cut(description), resource: cut(resource), mimeType: cut(mimeType) };
  return {
    ...rest,
    requirement: { ...terms, ...texts, extra: { ...extra, name: cut(extra.name), version: cut(extra.version) } },
  };
}

/** @throws TypeError, or any error of the requirement parser, for text that `writeChallenge` did not write */
export function parseKeptChallenge(value: JsonValue): KeptChallenge {
  if (typeof value !== 'object' || value === null) throw new TypeError('a stored challenge is not an object');
  const { url, fetchedAtMs, idempotencyKey, requirement } = value as Record<string, JsonValue | undefined>;
  if (typeof url !== 'string' || typeof fetchedAtMs !== 'number' || typeof idempotencyKey !== 'string') {
    throw new TypeError('a stored challenge lacks its url, its time or its key');
  }
  return { url, fetchedAtMs, idempotencyKey, requirement: parsePaymentRequirement(requirement) };
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
  const isPaid = ({ challenge }: { challenge: KeptChallenge }) => {
    const call = createPaymentCall(challenge.requirement);
    return call.to.toLowerCase() === to.toLowerCase() && call.data === data.toLowerCase();
  };
  return listChallenges(job).find(isPaid)?.challenge ?? null;
}
