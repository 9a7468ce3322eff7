/** Milliseconds from the value of `Retry-After`, in seconds or as a date; null for any other value. */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  const text = value ?? '';
  const delayMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(delayMs) ? null : Math.max(delayMs, 0);
}
