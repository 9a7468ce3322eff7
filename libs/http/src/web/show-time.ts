/** A time on a page, with its date and zone, where the browser is. @param at as `Date` reads it */
export function showTime(at: number | string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}
