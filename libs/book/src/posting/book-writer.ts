import { believedTime } from '@tollgate/book-events';

import { DeposedError, type ClaimedDatabase, type Queryable } from '../database/database.js';

/** What was lost came after the newest event. A time that was noted once is noted again at each start, and changes nothing. */
const NOTE_COMPLETE_FROM = `INSERT INTO complete_from AS known (chain_id, at)
  VALUES ($1, greatest($2::timestamptz, (SELECT least(now(), to_timestamp(milliseconds / 1000.0)) FROM stream_positions
    ORDER BY milliseconds DESC LIMIT 1)))
  ON CONFLICT (chain_id) DO UPDATE SET at = excluded.at WHERE known.at < $2::timestamptz`;

/** Writes as the active bookkeeper: each transaction first checks that no later one has taken over. */
export class BookWriter {
  private constructor(
    readonly database: ClaimedDatabase,
    readonly epoch: number,
  ) {}

  /** Takes over: transactions of every earlier bookkeeper are refused from now on. */
  static async open(database: ClaimedDatabase, holder: string): Promise<BookWriter> {
    const [row] = await database.transaction((within) =>
      within.query<{ epoch: number }>(
        `UPDATE bookkeeper SET epoch = epoch + 1, holder = $1, since = now() RETURNING epoch`,
        [holder],
      ),
    );
    if (row === undefined) throw new Error('The book has no row of its bookkeeper: its tables are damaged.');
    return new BookWriter(database, row.epoch);
  }

  /**
   * Notes since when every change of money on a chain is reported, in milliseconds since 1970. A later time than before means that
   * Redis has lost reports in between; null, that some process does not report. It never goes back, and is not before the
   * newest event in the book, which a Redis whose clock is behind its predecessor's would say.
   * @throws DeposedError, BookUnavailableError
   */
  async noteCompleteFrom(chainId: number, atMs: number | null): Promise<void> {
    await this.write((within) =>
      atMs === null
        ? within.query('DELETE FROM complete_from WHERE chain_id = $1', [chainId])
        : within.query(NOTE_COMPLETE_FROM, [chainId, new Date(believedTime(atMs)).toISOString()]),
    );
  }

  /**
   * @param isLong whether it may take longer than a minute; everything else waits behind it
   * @throws DeposedError when another bookkeeper has taken over; BookUnavailableError
   */
  write<T>(work: (within: Queryable) => Promise<T>, isLong = false): Promise<T> {
    return this.database.transaction(async (within) => {
      // Locks the row, so that a successor waits for this transaction, or this one sees it.
      const [row] = await within.query<{ epoch: number }>('SELECT epoch FROM bookkeeper FOR UPDATE');
      if (row?.epoch !== this.epoch) throw new DeposedError('Another bookkeeper has taken the book over.');
      return work(within);
    }, isLong);
  }
}
