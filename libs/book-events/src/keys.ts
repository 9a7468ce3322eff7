/**
 * The outbox of the book: Redis streams, each in the cluster slot of the state whose changes it reports, so that one
 * script writes both. An entry has the fields `v`, `type`, `at`, `payment` and `facts`: see `BookEvent`.
 */

/** The consumer group of the bookkeeper. Entries are trimmed once this group has acknowledged them. */
export const BOOK_GROUP = 'book';

/** The events of the payments of one of the ledger's buckets: `answered`, `released`, `refunding`, `refunded`. */
export const bucketEventsKey = (bucket: number): string => `tollgate:{pay-${bucket}}:events`;

/** Payments that arrived and were refused: `refused`. Refusals are recorded in a slot of their own. */
export const REFUSED_EVENTS = 'tollgate:{refused}:events';

/**
 * The transactions of one wallet or relayer: `settled`, `job_transaction`. `tollgate:{lanes}:lanes` and
 * `tollgate:{relayers}:lanes` are the sets of their names, each `<chainId>:<address>`.
 */
export const laneBookKey = (lane: string): string => `tollgate:{${lane}}:book`;

/** Whether it is a name of that form: the sets are written by other processes. */
export function isLaneName(name: string): boolean {
  return /^\d{1,15}:0x[0-9a-f]{40}$/.test(name);
}
