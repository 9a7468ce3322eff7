import { randomBytes } from 'node:crypto';

import { canonicalJson } from '@tollgate/protocol';

import { sha256 } from './digests.js';

export type JsonTree = string | number | boolean | null | readonly JsonTree[] | { readonly [name: string]: JsonTree };

/** One line of a booking: base units, a debit positive, a credit negative. */
export interface EntryLine {
  readonly account: string;
  readonly asset: string;
  readonly amount: string;
}

export interface NewBooking {
  /** `payment`, `correction`, `gas`, `value`, `reversal`. */
  readonly kind: string;
  readonly payment: string | null;
  /** When it happened, in milliseconds since 1970. */
  readonly atMs: number;
  readonly facts: { readonly [name: string]: JsonTree };
  readonly lines: readonly EntryLine[];
}

export interface Booking extends NewBooking {
  readonly id: number;
  readonly firstEntry: number;
  readonly bookedAtMs: number;
  /** The text that `contentHash` covers. */
  readonly content: string;
  readonly contentHash: string;
  readonly chainHash: string;
}

/** The end of the hash chain: the last numbers, and the last booking's chain hash. */
export interface ChainEnd {
  readonly booking: number;
  readonly entry: number;
  readonly hash: string;
}

export const CHAIN_START = '0'.repeat(64);
const CONTENT_VERSION = 1;

/** Adds bookings to the chain, in order. */
export function chainBookings(
  bookings: readonly NewBooking[],
  from: ChainEnd,
  bookedAtMs: number,
): { bookings: Booking[]; end: ChainEnd } {
  let end = from;
  const chained = bookings.map((booking): Booking => {
    const [id, firstEntry] = [end.booking + 1, end.entry + 1];
    const content = writeContent(booking, { id, firstEntry, bookedAtMs });
    const contentHash = sha256(content);
    const chainHash = nextChainHash(end.hash, contentHash);
    end = { booking: id, entry: end.entry + booking.lines.length, hash: chainHash };
    return { ...booking, id, firstEntry, bookedAtMs, content, contentHash, chainHash };
  });
  return { bookings: chained, end };
}

export function nextChainHash(previous: string, contentHash: string): string {
  return sha256(`${previous}${contentHash}`);
}

/** Salted, so that a booking cannot be guessed from the hashes in another one's proof. */
function writeContent(
  { kind, payment, atMs, facts, lines }: NewBooking,
  { id, firstEntry, bookedAtMs }: { id: number; firstEntry: number; bookedAtMs: number },
): string {
  return canonicalJson({
    version: CONTENT_VERSION,
    id,
    kind,
    payment,
    facts,
    at: new Date(atMs).toISOString(),
    bookedAt: new Date(bookedAtMs).toISOString(),
    entries: lines.map(({ account, asset, amount }, index) => ({ id: firstEntry + index, account, asset, amount })),
    salt: randomBytes(16).toString('hex'),
  });
}
