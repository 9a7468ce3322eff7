import type { PreimageSigner } from '@tollgate/crypto';
import { canonicalJson } from '@tollgate/protocol';

import type { Queryable } from '../database/database.js';
import { storeOutgoingEvents } from '../events/outgoing-event.js';
import type { BookWriter } from '../posting/book-writer.js';
import { closingBytes, closingHash, type ClosingContent, type SignedClosing } from './closing.js';
import { hashBookings } from './hash-bookings.js';

const DAY_MS = 86_400_000;

/**
 * Closes every day that has ended and has bookings without a closing, one closing a day. With `untilMs`, also the part
 * of the current day until then. Bookings are written meanwhile. Returns the new closings.
 * @throws DeposedError, BookUnavailableError; the reason of the signal once it is aborted
 */
export async function closeBook(
  writer: BookWriter,
  signer: PreimageSigner,
  { untilMs, signal }: { untilMs?: number; signal?: AbortSignal } = {},
): Promise<SignedClosing[]> {
  const closed: SignedClosing[] = [];
  const before = untilMs ?? Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (;;) {
    const content = await describeNext(writer.database, before, signal);
    if (content === null) return closed;
    const closing = await sign(content, signer);
    // Where another closing was faster, the next call goes on from it.
    if (!(await writer.write((within) => storeClosing(within, closing)))) return closed;
    closed.push(closing);
  }
}

/** The next closing: of the bookings without one that were booked on the same day as the first of them. */
async function describeNext(
  database: Queryable,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<ClosingContent | null> {
  const [newest] = await database.query<{ number: number; last_booking: number; hash: string }>(
    'SELECT number, last_booking, hash FROM closings ORDER BY number DESC LIMIT 1',
  );
  const first = (newest?.last_booking ?? 0) + 1;
  const [begin] = await database.query<{ booked_at: Date; last: number }>(
    'SELECT booked_at, last_booking AS last FROM bookings, bookkeeper WHERE id = $1',
    [first],
  );
  if (begin === undefined) return null;
  const dayMs = Math.floor(begin.booked_at.getTime() / DAY_MS) * DAY_MS;
  const range = { first, last: begin.last, beforeMs: Math.min(beforeMs, dayMs + DAY_MS) };
  const hashed = await hashBookings(database, range, { signal });
  if (hashed === null) return null;
  const { root, lastBooking, chainHash } = hashed;
  return {
    version: 1,
    number: (newest?.number ?? 0) + 1,
    day: new Date(dayMs).toISOString().slice(0, 10),
    firstBooking: first,
    lastBooking,
    root,
    chainHash,
    previous: newest?.hash ?? null,
  };
}

/**
 * False: another closing was stored since this one was described.
 * @throws Error where the bookings that were read are not those that this transaction sees
 */
async function storeClosing(within: Queryable, closing: SignedClosing): Promise<boolean> {
  const { content } = closing;
  const [now] = await within.query<{ previous: string | null; chain: string | null }>(
    `SELECT (SELECT hash FROM closings ORDER BY number DESC LIMIT 1) AS previous,
      (SELECT chain_hash FROM bookings WHERE id = $1) AS chain`,
    [content.lastBooking],
  );
  if (now?.previous !== content.previous) return false;
  // Pages are read by other connections, which a failover may lead to a server that is not the writer's.
  if (now.chain !== content.chainHash) {
    throw new Error(
      `Booking ${content.lastBooking} is another one to the connection that writes than to those that read.`,
    );
  }
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
  return true;
}

async function sign(content: ClosingContent, signer: PreimageSigner): Promise<SignedClosing> {
  const { r, s, yParity } = await signer.sign(closingBytes(content));
  const word = (number: bigint): string => number.toString(16).padStart(64, '0');
  const signature = `0x${word(r)}${word(s)}${(27 + yParity).toString(16)}`;
  return { content, hash: closingHash(content), signer: signer.address, signature };
}
