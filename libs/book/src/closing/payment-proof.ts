import { isRecord } from '@tollgate/protocol';
import { z } from 'zod';

import { requestDigest, sha256 } from '../bookings/digests.js';
import { parseClosing, signedClosing, signerOf, type SignedClosing } from './closing.js';
import { followPath, merkleStep } from './merkle.js';

/** A booking, the path from its content's hash to the root of its closing, and the closing. */
const bookingProof = z.object({
  content: z.string().describe('The exact text that was hashed.'),
  path: z.array(merkleStep).readonly(),
  closing: signedClosing,
});
export type BookingProof = z.output<typeof bookingProof>;

/** A file that shows what was booked for a payment, without the database. */
export const bookProof = z.object({
  version: z.literal(1),
  payment: z.string(),
  request: z
    .object({ salt: z.string(), hash: z.string() })
    .nullable()
    .describe(
      'What the salted request hash in the bookings is made of; null without an answer, or once the request was removed.',
    ),
  bookings: z.array(bookingProof).readonly(),
});
export type BookProof = z.output<typeof bookProof>;

/** What the checker knows by other means than the file: a day's Merkle root, or the address of the closing key. */
export type TrustedFact = { readonly root: string } | { readonly key: string };

export interface CheckedBooking {
  readonly booking: number;
  readonly kind: string;
  readonly day: string;
  readonly root: string;
  readonly signer: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly entries: readonly { account: string; asset: string; amount: string }[];
}

/**
 * Checks a proof against something that is known by other means. With a root, only the bookings under that root are
 * proved, and at least one must be.
 * @throws TypeError with the reason when it proves nothing
 */
export function checkProof(file: unknown, trusted: TrustedFact): { payment: string; bookings: CheckedBooking[] } {
  if (
    !isRecord(file) ||
    file['version'] !== 1 ||
    typeof file['payment'] !== 'string' ||
    !Array.isArray(file['bookings'])
  ) {
    throw new TypeError('This is not a proof of a payment, or one of a later version.');
  }
  const { payment, request } = file;
  const checked = file['bookings'].map((one: unknown) => checkBooking(one, payment, trusted));
  const bookings = checked.filter((one) => one !== null);
  if (bookings.length === 0) {
    throw new TypeError('root' in trusted ? 'No booking in this file is under that root.' : 'The file has no booking.');
  }
  for (const { booking, facts } of bookings) assertRequest(booking, facts['answer'], request);
  return { payment, bookings };
}

function checkBooking(value: unknown, payment: string, trusted: TrustedFact): CheckedBooking | null {
  const { content: text, path, closing } = Object(value) as Partial<Record<keyof BookingProof, unknown>>;
  const signed = Object(closing) as Partial<Record<keyof SignedClosing, unknown>>;
  const content = parseClosing(signed.content);
  const steps = bookingProof.shape.path.safeParse(path);
  if (typeof text !== 'string' || !steps.success || content === null) throw new TypeError('The proof is damaged.');
  const { id, kind, facts, entries, payment: named } = JSON.parse(text) as Record<string, unknown>;
  if (named !== payment) throw new TypeError(`Booking ${String(id)} is not of the payment that the file names.`);
  if (followPath(sha256(text), steps.data) !== content.root) {
    throw new TypeError(`Booking ${String(id)}: its content and path do not lead to the root of its closing.`);
  }
  const signer = signerOf({ content, hash: String(signed.hash), signature: String(signed.signature) });
  if (signer === null) throw new TypeError(`Booking ${String(id)}: the signature of its closing does not fit.`);
  if ('key' in trusted && signer !== trusted.key.toLowerCase()) {
    throw new TypeError(`Booking ${String(id)}: its closing was signed by ${signer}, not by the given key.`);
  }
  if ('root' in trusted && content.root !== trusted.root.toLowerCase().replace(/^0x/, '')) return null;
  return {
    booking: id as number,
    kind: kind as string,
    day: content.day,
    root: content.root,
    signer,
    facts: facts as CheckedBooking['facts'],
    entries: entries as CheckedBooking['entries'],
  };
}

/** The request in the file, which is outside the hashed text, against the digest inside it. */
function assertRequest(booking: number, answer: unknown, request: unknown): void {
  if (!isRecord(answer) || !isRecord(request)) return;
  if (requestDigest(String(request['salt']), String(request['hash'])) !== answer['request']) {
    throw new TypeError(`Booking ${booking}: it was booked for another request than the file names.`);
  }
}
