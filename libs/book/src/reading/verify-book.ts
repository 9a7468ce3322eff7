import { setImmediate as nextTurn } from 'node:timers/promises';

import { z } from 'zod';

import { CHAIN_START, nextChainHash } from '../bookings/booking.js';
import { sha256 } from '../bookings/digests.js';
import { parseClosing, signerOf, type ClosingContent } from '../closing/closing.js';
import { hashBookings } from '../closing/hash-bookings.js';
import type { Queryable } from '../database/database.js';

export const bookVerdict = z.object({
  bookings: z.int(),
  entries: z.int(),
  closings: z.int(),
  chainHash: z.string().describe('The chain hash of the last booking.'),
  broken: z.string().nullable().describe('The first row that does not fit, as a sentence; null when all do.'),
});
export type BookVerdict = z.output<typeof bookVerdict>;

interface BookingRow {
  id: number;
  kind: string;
  payment: string | null;
  booked_at: Date;
  content: string;
  content_hash: string;
  chain_hash: string;
}

interface EntryRow {
  id: number;
  booking: number;
  account: string;
  asset: string;
  amount: string;
}

const PAGE = 2_000;

/**
 * Recomputes the hash chain from the first booking on, compares each booking's columns and entries with what its hash
 * covers, adds up every booking, and checks the closings' signatures and columns. Reads in pages, up to the booking that
 * is the last one at its start: bookings never change, and are written meanwhile.
 * @param signers the addresses whose closings count, in the order in which they signed; any when it is empty
 */
export async function verifyBook(within: Queryable, signers: readonly string[]): Promise<BookVerdict> {
  let [bookings, entries, chainHash] = [0, 0, CHAIN_START];
  const conclude = (broken: string | null, closings = 0) => ({ bookings, entries, closings, chainHash, broken });
  const sums = new Map<string, bigint>();
  const end = await readEnd(within);
  for (;;) {
    const page = await within.query<BookingRow>(
      `SELECT id, kind, payment, booked_at, content, content_hash, chain_hash FROM bookings
        WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`,
      [bookings, end.last, PAGE],
    );
    if (page.length === 0) break;
    const lines = await readEntries(within, bookings, page.at(-1)?.id ?? 0);
    for (const booking of page) {
      const own = lines.get(booking.id) ?? [];
      const broken = findFault(booking, bookings + 1, chainHash) ?? findContentFault(booking, own);
      if (broken !== null) return conclude(broken);
      bookings = booking.id;
      entries += own.length;
      for (const { account, asset, amount } of own) {
        const name = nameBalance(account, asset);
        const sum = (sums.get(name) ?? 0n) + BigInt(amount);
        // The account of a payer returns to 0.
        if (sum === 0n) sums.delete(name);
        else sums.set(name, sum);
      }
      chainHash = booking.chain_hash;
    }
    // A database in this process answers without giving way to timers and requests.
    await nextTurn();
  }
  const fault =
    findEndFault(end, conclude(null)) ??
    (await findStrayEntry(within, end.last)) ??
    findBalanceFault(end.balances, sums);
  if (fault !== null) return conclude(fault);
  const { closings, broken } = await verifyClosings(within, signers);
  return conclude(broken, closings);
}

/** At one moment: what the counter says of the last booking, the newest one that is there, and the balances after it. */
interface BookEnd {
  last: number;
  hash: string;
  newest: number;
  balances: [account: string, asset: string, amount: string][];
}

async function readEnd(within: Queryable): Promise<BookEnd> {
  const [end] = await within.query<BookEnd>(
    `SELECT last_booking AS last, chain_hash AS hash, coalesce((SELECT max(id) FROM bookings), 0) AS newest,
      ARRAY(SELECT jsonb_build_array(account, asset, amount::text) FROM balances) AS balances FROM bookkeeper`,
  );
  if (end === undefined) throw new Error('The book has no row of its bookkeeper: its tables are damaged.');
  return end;
}

async function readEntries(within: Queryable, after: number, upTo: number): Promise<Map<number, EntryRow[]>> {
  const rows = await within.query<EntryRow>(
    'SELECT id, booking, account, asset, amount::text FROM entries WHERE booking > $1 AND booking <= $2 ORDER BY id',
    [after, upTo],
  );
  const byBooking = new Map<number, EntryRow[]>();
  for (const row of rows) {
    const own = byBooking.get(row.booking);
    if (own) own.push(row);
    else byBooking.set(row.booking, [row]);
  }
  return byBooking;
}

function findFault(row: BookingRow, expectedId: number, previous: string): string | null {
  if (row.id !== expectedId) return `Booking ${expectedId} is missing.`;
  if (sha256(row.content) !== row.content_hash) return `Booking ${row.id}: its content was changed.`;
  if (nextChainHash(previous, row.content_hash) !== row.chain_hash) {
    return `Booking ${row.id}: it does not follow the booking before it.`;
  }
  return null;
}

/** Compares what the hash covers with the columns that are searched, and the entries that balances are added up from. */
function findContentFault(booking: BookingRow, rows: readonly EntryRow[]): string | null {
  const { id, kind, payment, booked_at: at } = booking;
  const hashed = JSON.parse(booking.content) as { entries: Omit<EntryRow, 'booking'>[] };
  const change = describeChange({ id, kind, payment, bookedAt: at.toISOString() }, hashed, 'booked');
  if (change !== null) return `Booking ${id}: ${change}.`;
  const sums = new Map<string, bigint>();
  for (const [index, one] of hashed.entries.entries()) {
    const row = rows[index];
    if (row === undefined || row.id > one.id) return `Entry ${one.id} of booking ${id} is missing.`;
    if (row.id !== one.id) return `Entry ${row.id} is not part of booking ${id}.`;
    const { account, asset, amount } = row;
    const wrong = describeChange({ account, asset, amount }, one, 'booked');
    if (wrong !== null) return `Entry ${one.id} of booking ${id}: ${wrong}.`;
    sums.set(row.asset, (sums.get(row.asset) ?? 0n) + BigInt(row.amount));
  }
  const added = rows[hashed.entries.length];
  if (added !== undefined) return `Entry ${added.id} is not part of booking ${id}.`;
  return [...sums.values()].some((sum) => sum !== 0n) ? `Booking ${id} does not sum to zero.` : null;
}

/** The first column that differs from the hashed or signed text, for a sentence. */
function describeChange(
  columns: Readonly<Record<string, string | number | null>>,
  text: object,
  how: 'booked' | 'signed',
): string | null {
  const said = text as typeof columns;
  const name = Object.keys(columns).find((one) => columns[one] !== said[one]);
  return name === undefined ? null : `its ${name} is ${columns[name]}, and was ${how} as ${said[name]}`;
}

/** Bookings that were cut off at the end, or added to it. */
function findEndFault(end: BookEnd, { bookings, chainHash }: BookVerdict): string | null {
  if (end.last !== bookings || end.hash !== chainHash)
    return `Booking ${bookings + 1} is missing: it was the last one.`;
  return end.newest > end.last ? `Booking ${end.newest} comes after the last one, ${end.last}.` : null;
}

/** Entries of no booking: those of the bookings from 1 to `last` were all compared. */
async function findStrayEntry(within: Queryable, last: number): Promise<string | null> {
  const [stray] = await within.query<{ id: number }>(
    `(SELECT id FROM entries WHERE booking < 1 ORDER BY booking LIMIT 1) UNION ALL
      (SELECT id FROM entries WHERE booking > $1
        AND NOT EXISTS (SELECT FROM bookings WHERE bookings.id = booking AND bookings.id > $1) ORDER BY booking LIMIT 1)`,
    [last],
  );
  return stray === undefined ? null : `Entry ${stray.id} belongs to no booking.`;
}

const nameBalance = (account: string, asset: string): string => `${account} in ${asset}`;

/** Compares the balances with the sums of all entries. */
function findBalanceFault(balances: BookEnd['balances'], sums: Map<string, bigint>): string | null {
  const kept = new Map(balances.map(([account, asset, amount]) => [nameBalance(account, asset), BigInt(amount)]));
  const wrong = [...sums.keys(), ...kept.keys()].find((name) => sums.get(name) !== kept.get(name));
  if (wrong === undefined) return null;
  return `The balance of ${wrong} is ${kept.get(wrong) ?? 0n}, and its entries sum to ${sums.get(wrong) ?? 0n}.`;
}

interface ClosingRow {
  number: number;
  day: string;
  firstBooking: number;
  lastBooking: number;
  signer: string;
  content: string;
  hash: string;
  signature: string;
}

/** Checks each closing's signature, its place after the one before it, and its root against the bookings. */
async function verifyClosings(
  within: Queryable,
  signers: readonly string[],
): Promise<{ closings: number; broken: string | null }> {
  const rows = await within.query<ClosingRow>(
    `SELECT number, day::text, first_booking AS "firstBooking", last_booking AS "lastBooking", signer,
      content, hash, signature FROM closings ORDER BY number`,
  );
  let before = { number: 0, hash: null as string | null, lastBooking: 0, place: 0 };
  for (const { content: text, hash, signature, ...columns } of rows) {
    const content = parseClosing(JSON.parse(text));
    const { number } = columns;
    if (content === null) return { closings: before.number, broken: `Closing ${number}: it cannot be read.` };
    const signer = signerOf({ content, hash, signature });
    // A key that was replaced signs nothing more.
    const place = signer === null ? -1 : signers.indexOf(signer, before.place);
    const broken =
      findSignatureFault(signer, signers, place) ??
      describeChange(columns, { ...content, signer }, 'signed') ??
      findLinkFault(content, before) ??
      (await findRootFault(within, content));
    if (broken !== null) return { closings: before.number, broken: `Closing ${number}: ${broken}.` };
    before = { number, hash, lastBooking: content.lastBooking, place: Math.max(place, 0) };
  }
  return { closings: rows.length, broken: null };
}

/** @param place of the signer among those that may still sign; -1: it has none */
function findSignatureFault(signer: string | null, signers: readonly string[], place: number): string | null {
  if (signer === null) return 'its signature does not fit its content';
  if (signers.length === 0 || place >= 0) return null;
  const why = signers.includes(signer) ? 'after a later key had signed' : 'which is not a key of this book';
  return `it was signed by ${signer}, ${why}`;
}

function findLinkFault(
  content: ClosingContent,
  before: { number: number; hash: string | null; lastBooking: number },
): string | null {
  if (content.number !== before.number + 1) return `closing ${before.number + 1} is missing`;
  if (content.previous !== before.hash) return 'it does not follow the closing before it';
  const first = before.lastBooking + 1;
  return content.firstBooking === first ? null : `it does not begin with booking ${first}`;
}

async function findRootFault(
  within: Queryable,
  { firstBooking, lastBooking, root, chainHash }: ClosingContent,
): Promise<string | null> {
  const found = await hashBookings(within, { first: firstBooking, last: lastBooking });
  if (found?.root === root && found.chainHash === chainHash) return null;
  return `bookings ${firstBooking} to ${lastBooking} are not those that were signed`;
}
