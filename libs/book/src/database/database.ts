/** In which the tables are, so that the database may have others. */
export const SCHEMA = 'tollgate_book';

/** For the rest of a transaction that reads or writes the whole book. */
export const NO_STATEMENT_LIMIT = 'SET LOCAL statement_timeout = 0';

/** What a statement takes; objects are passed as JSON text, and big numbers as decimal text. */
export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[];

/** Runs SQL of PostgreSQL 15. `bigint` columns are read as numbers, `numeric` as text, `timestamptz` as `Date`. */
export interface Queryable {
  /** @throws BookUnavailableError when the database does not answer; DatabaseError-like objects with `code` else */
  query<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
}

/** A database that this process alone writes to, until it is closed or `lost` resolves. */
export interface ClaimedDatabase extends Queryable {
  readonly kind: 'pglite' | 'postgres';
  /** Resolves with the reason when the claim is lost: another process may write from now on. */
  readonly lost: Promise<string>;
  /**
   * One transaction; those of this process run one after another. Rolled back when the work rejects.
   * @param isLong whether its statements and its commit are waited for as long as they take; else, for a minute each
   */
  transaction<T>(work: (within: Queryable) => Promise<T>, isLong?: boolean): Promise<T>;
  /** Reads at one moment, beside transactions that write where the database allows it. */
  snapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T>;
  /**
   * Reads at one moment for as long as it takes, while transactions write.
   * @throws NoSpaceError where the database would have to be copied for that, and the disk is too full
   */
  longSnapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T>;
  /** Several statements without values, which are waited for as long as they take. */
  execute(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** Values that no column can have (class 22), that a constraint forbids (23), or that are too large for an index (54). */
const REFUSAL = /^(22|23|54)[0-9A-Z]{3}$/;
/** A number in these that is taken says that the book is damaged, not that the values are wrong. */
const NUMBERED = ['bookings', 'entries'];

/**
 * Whether the database has understood the values and refuses them, however often they are written. Nothing else is a
 * reason to go on without them: a database that is away, full or closed, and an epoch that has passed, are not.
 */
export function isRefusedForGood(error: unknown): error is Error {
  const { code = '', table = '' } = Object(error) as { code?: string; table?: string };
  return REFUSAL.test(code) && !(code === '23505' && NUMBERED.includes(table));
}

/** The database does not answer, is full, or refuses this user. Nothing was written, or all of it: ask again. */
export class BookUnavailableError extends Error {
  override readonly name = 'BookUnavailableError';
}

/** The disk has no room for what was asked. Nothing was written. */
export class NoSpaceError extends Error {
  override readonly name = 'NoSpaceError';
}

/** Another process writes this book. */
export class BookHeldError extends Error {
  override readonly name = 'BookHeldError';
}

/** Another bookkeeper has taken the book over; this one must stop writing. */
export class DeposedError extends Error {
  override readonly name = 'DeposedError';
}
