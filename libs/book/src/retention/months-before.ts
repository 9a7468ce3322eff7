/**
 * The time so many months earlier, UTC, in milliseconds since 1970. A day that the earlier month does not have is its last
 * one: a month before 31 March is 28 or 29 February.
 */
export function monthsBefore(nowMs: number, months: number): number {
  const at = new Date(nowMs);
  const day = at.getUTCDate();
  at.setUTCMonth(at.getUTCMonth() - months);
  // It went over into the next month.
  if (at.getUTCDate() !== day) at.setUTCDate(0);
  return at.getTime();
}
