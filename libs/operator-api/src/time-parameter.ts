import { textParameter } from '@tollgate/http';

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;
const message = 'must be a day or a time in UTC: 2026-11-25 or 2026-11-25T08:00:00Z';

/** Later than every time in the book, in milliseconds since 1970. */
export const END_OF_TIME_MS = Date.UTC(9999, 11, 31);

/** A day, which begins at midnight UTC, or a time; in milliseconds since 1970. */
export const timeParameter = textParameter
  .refine((text) => TIME.test(text) && isTime(text), message)
  .transform((text) => Date.parse(text));

/** `Date` takes February 30 and the end of a day for the day after it, and the database has no year 0. */
function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return !text.startsWith('0000') && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10));
}
