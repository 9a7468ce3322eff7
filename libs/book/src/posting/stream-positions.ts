import { isTimely } from '@tollgate/book-events';

import type { Queryable } from '../database/database.js';
import { skipEventNumbers } from '../events/outgoing-event.js';
import type { BookWriter } from './book-writer.js';

/** An entry of a stream of the outbox. */
export interface StreamPosition {
  readonly stream: string;
  readonly id: string;
}

/** A time of which the book lacks events. */
export interface Gap {
  readonly since: Date;
  readonly until: Date;
}

/** `$1`: streams and ids; the newest id of each stream. */
const NEWEST = `SELECT DISTINCT ON (stream) stream, split_part(id, '-', 1)::bigint AS milliseconds,
    split_part(id, '-', 2)::numeric AS counter FROM jsonb_to_recordset($1::jsonb) AS named(stream text, id text)
  ORDER BY stream, milliseconds DESC, counter DESC`;

/** An id that no clock has shown yet is no position: nothing would ever be after it. Such a stream is begun anew. */
function writePositions(positions: readonly StreamPosition[]): string {
  const timely = positions.filter(({ id }) => isTimely(Number.parseInt(id, 10)));
  return JSON.stringify(timely.map(({ stream, id }) => ({ stream, id })));
}

/** Notes the newest of the events that are stored. */
export async function storePositions(within: Queryable, stored: readonly StreamPosition[]): Promise<void> {
  await within.query(
    `INSERT INTO stream_positions (stream, milliseconds, counter) ${NEWEST}
      ON CONFLICT (stream) DO UPDATE SET milliseconds = excluded.milliseconds, counter = excluded.counter
        WHERE (stream_positions.milliseconds, stream_positions.counter) < (excluded.milliseconds, excluded.counter)`,
    [writePositions(stored)],
  );
}

/**
 * Notes a gap where events are acknowledged in Redis that this book never had: another book has them, or this one was
 * restored from a copy, or its server lost transactions that it had confirmed. Null: the book lacks nothing.
 * @param acknowledged the newest acknowledged entry of each stream; this book commits an event before it acknowledges it
 * @param reportedSinceMs when the reports began, for a stream of which the book has nothing
 * @throws DeposedError, BookUnavailableError
 */
export function notePositions(
  writer: BookWriter,
  acknowledged: readonly StreamPosition[],
  reportedSinceMs: number,
): Promise<Gap | null> {
  return writer.write(async (within) => {
    const [ahead] = await within.query<{ had: number | null; newest: number | null }>(
      `SELECT min(coalesce(own.milliseconds, $2::bigint)) AS had, max(theirs.milliseconds) AS newest
        FROM (${NEWEST}) AS theirs
        LEFT JOIN stream_positions AS own ON own.stream = theirs.stream
        WHERE (theirs.milliseconds, theirs.counter) > (coalesce(own.milliseconds, -1), coalesce(own.counter, 0))`,
      [writePositions(acknowledged), reportedSinceMs],
    );
    if (ahead == null || ahead.had === null || ahead.newest === null) return null;
    await storePositions(within, acknowledged);
    await skipEventNumbers(within);
    return noteGap(within, Math.min(ahead.had, ahead.newest), ahead.newest);
  });
}

/** Null where a gap that was noted before, as of a copy that was restored, names the time already. */
async function noteGap(within: Queryable, fromMs: number, newestMs: number): Promise<Gap | null> {
  const times = [new Date(fromMs).toISOString(), new Date(newestMs).toISOString()];
  const [known] = await within.query('SELECT until FROM gaps WHERE until > $1::timestamptz LIMIT 1', times.slice(1));
  if (known !== undefined) return null;
  // Where another book goes on reading, its gap grows.
  const grown = await within.query<{ since: Date; until: Date }>(
    `UPDATE gaps SET since = least(since, $1::timestamptz), until = greatest(now(), $2::timestamptz + interval '1 ms')
      WHERE until >= $1::timestamptz RETURNING since, until`,
    times,
  );
  const [gap] =
    grown.length > 0
      ? grown
      : await within.query<{ since: Date; until: Date }>(
          `INSERT INTO gaps (since, until) VALUES ($1, greatest(now(), $2::timestamptz + interval '1 ms')) RETURNING since, until`,
          times,
        );
  return gap ?? null;
}
