import { toRetryAfter } from '@tollgate/http';
import { pauseMsAfter } from '@tollgate/middleware/purchase';

type Headers = readonly (readonly [string, string])[];

/** How long a busy resource is left alone, by its `Retry-After`; 0 for one that is not busy. */
export function pauseMsOf(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  nowMs: number,
): number {
  return pauseMsAfter(status, headers.find(([name]) => isRetryAfter(name))?.[1] ?? null, nowMs);
}

/** Tells the client when to ask again, if it is to wait. */
export function tellPause(headers: Headers, pauseMs: number): Headers {
  if (pauseMs === 0) return headers;
  return [...headers.filter(([name]) => !isRetryAfter(name)), ['Retry-After', toRetryAfter(pauseMs)]];
}

function isRetryAfter(name: string): boolean {
  return name.toLowerCase() === 'retry-after';
}
