import type { PreimageSigner } from '@tollgate/crypto';
import { canonicalJson } from '@tollgate/protocol';

import type { Queryable } from '../database/database.js';
import { storeOutgoingEvents } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';
import { closingBytes, closingHash, type ClosingContent, type SignedClosing } from './closing.js';
import { merkleRoot } from './merkle.js';

const DAY_MS = 86_400_000;

/**
 * Closes every day that has ended and has bookings without a closing, one closing a day. With `untilMs`, also the part
 * of the current day until then. Returns the new closings.
 * @throws DeposedError, BookUnavailableError
 */
export async function closeBook(
  writer: BookWriter,
  signer: PreimageSigner,
  untilMs?: number,
): Promise<SignedClosing[]> {
  const closed: SignedClosing[] = [];
  const before = untilMs ?? Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (;;) {
    const closing = await writer.write((within) => closeNext(within, signer, before));
    if (closing === null) return closed;
    closed.push(closing);
  }
}

async function closeNext(within: Queryable, signer: PreimageSigner, beforeMs: number): Promise<SignedClosing | null> {
  const [last] = await within.query<{ number: number; last_booking: number; hash: string }>(
    'SELECT number, last_booking, hash FROM closings ORDER BY number DESC LIMIT 1',
  );
  const bookings = await readDay(within, last?.last_booking ?? 0, beforeMs);
  const [first, end] = [bookings[0], bookings.at(-1)];
  if (first === undefined || end === undefined) return null;
  const content: ClosingContent = {
    ...{ version: 1, number: (last?.number ?? 0) + 1, day: first.day },
    ...{ firstBooking: first.id, lastBooking: end.id },
    root: merkleRoot(bookings.map(({ content_hash: hash }) => hash)),
    ...{ chainHash: end.chain_hash, previous: last?.hash ?? null },
  };
  const closing = await sign(content, signer);
  await within.query(
    `INSERT INTO closings (number, day, first_booking, last_booking, content, hash, signer, signature)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[content.number, content.day, content.firstBooking, content.lastBooking, canonicalJson({ ...content })],
      ...[closing.hash, closing.signer, closing.signature],
    ],
  );
  const at = new Date().toISOString();
  await storeOutgoingEvents(within, [
    { version: 1, id: `book.closed:${closing.hash}`, type: 'book.closed', at, closing },
  ]);
  return closing;
}

/** The bookings without a closing that were booked on the same day as the first of them. */
function readDay(within: Queryable, after: number, beforeMs: number) {
  const day = `(booked_at AT TIME ZONE 'UTC')::date`;
  return within.query<{ id: number; content_hash: string; chain_hash: string; day: string }>(
    `SELECT id, content_hash, chain_hash, to_char(${day}, 'YYYY-MM-DD') AS day FROM bookings
      WHERE id > $1 AND booked_at < $2 AND ${day} = (SELECT ${day} FROM bookings WHERE id = $1 + 1) ORDER BY id`,
    [after, new Date(beforeMs).toISOString()],
  );
}

async function sign(content: ClosingContent, signer: PreimageSigner): Promise<SignedClosing> {
  const { r, s, yParity } = await signer.sign(closingBytes(content));
  const word = (number: bigint): string => number.toString(16).padStart(64, '0');
  const signature = `0x${word(r)}${word(s)}${(27 + yParity).toString(16)}`;
  return { content, hash: closingHash(content), signer: signer.address, signature };
}
