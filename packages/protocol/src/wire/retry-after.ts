/** Milliseconds from the value of `Retry-After`, in seconds or as a date; null for any other value. */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  const text = value ?? '';
  // Many servers send fractions, which are no HTTP dates though JavaScript reads some as dates.
  if (/^\d+(\.\d*)?$/.test(text)) return Number(text) * 1000;
  const delayMs = /^[a-z]/i.test(text) ? Date.parse(text) - nowMs : NaN;
  return Number.isNaN(delayMs) ? null : Math.max(delayMs, 0);
}
