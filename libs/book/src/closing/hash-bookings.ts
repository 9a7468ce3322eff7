import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Queryable } from '../database/database.js';
import { MerkleTree, type MerkleStep } from './merkle.js';

/** Bookings that are in memory at a time. */
const PAGE = 2_000;

export interface BookingRange {
  readonly first: number;
  readonly last: number;
  /** Ends the range before the first booking of this time or later. */
  readonly beforeMs?: number;
}

export interface HashedBookings {
  /** The Merkle root over the content hashes. */
  readonly root: string;
  readonly lastBooking: number;
  /** The chain hash of the last booking. */
  readonly chainHash: string;
}

/**
 * Reads bookings in pages, and lets this process do other work between them. Null: there is no booking in the range.
 * @param paths by booking: each gets the steps from it to the root
 * @throws BookUnavailableError; the reason of the signal once it is aborted
 */
export async function hashBookings(
  within: Queryable,
  { first, last, beforeMs = Infinity }: BookingRange,
  { paths, signal }: { paths?: ReadonlyMap<number, MerkleStep[]>; signal?: AbortSignal | undefined } = {},
): Promise<HashedBookings | null> {
  const tree = new MerkleTree();
  let end: { id: number; chain_hash: string } | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const page: BookingRow[] = await within.query<BookingRow>(
      `SELECT id, content_hash, chain_hash, booked_at FROM bookings
        WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`,
      [end?.id ?? first - 1, last, PAGE],
    );
    // Bookings never go back in time.
    const own = page.filter(({ booked_at: at }) => at.getTime() < beforeMs);
    for (const { id, content_hash: hash } of own) tree.add(hash, paths?.get(id));
    end = own.at(-1) ?? end;
    if (own.length < PAGE) break;
    // A database in this process answers without giving way to timers and requests.
    await nextTurn();
  }
  return end === null ? null : { root: tree.root(), lastBooking: end.id, chainHash: end.chain_hash };
}

interface BookingRow {
  id: number;
  content_hash: string;
  chain_hash: string;
  booked_at: Date;
}
