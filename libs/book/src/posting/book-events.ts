import type { BookSeller } from '../bookings/describe-payment.js';
import { isRefusedForGood } from '../database/database.js';
import type { BookWriter } from './book-writer.js';
import { postEvents, type Posted } from './post-events.js';
import type { StreamPosition } from './stream-positions.js';
import { readUnapplied, setEventAside, type DeliveredEvent } from './take-events.js';

/**
 * Posts a batch of events. Where the database refuses it for good, its halves are posted, and so on down to the event that
 * is refused alone: that one is kept with the reason, and holds up no other.
 * @throws DeposedError, BookUnavailableError; then what is left is to be posted again
 */
export async function bookEvents(
  writer: BookWriter,
  delivered: readonly DeliveredEvent[],
  seller: BookSeller,
): Promise<Posted> {
  try {
    return await postEvents(writer, delivered, seller);
  } catch (error) {
    const [first, ...others] = delivered;
    if (first === undefined || !isRefusedForGood(error)) throw error;
    if (others.length === 0) {
      await writer.write((within) => setEventAside(within, first, error.message));
      return { events: 0, unread: 0, refused: 1, bookings: 0 };
    }
    const half = Math.ceil(delivered.length / 2);
    const before = await bookEvents(writer, delivered.slice(0, half), seller);
    return sum(before, await bookEvents(writer, delivered.slice(half), seller));
  }
}

/** Before all events that are kept. */
export const FIRST_UNAPPLIED: StreamPosition = { stream: '', id: '' };
const PAGE = 200;

/**
 * Posts a page of the events that were kept: those that could not be read when they came, and those that were refused.
 * @returns what was posted, and after which event the next page begins; null after the last page
 */
export async function bookUnapplied(
  writer: BookWriter,
  seller: BookSeller,
  after = FIRST_UNAPPLIED,
): Promise<Posted & { next: StreamPosition | null }> {
  const { readable, last } = await readUnapplied(writer.database, after, PAGE);
  return { ...(await bookEvents(writer, readable, seller)), next: last };
}

function sum(one: Posted, other: Posted): Posted {
  return {
    events: one.events + other.events,
    unread: one.unread + other.unread,
    refused: one.refused + other.refused,
    bookings: one.bookings + other.bookings,
  };
}
