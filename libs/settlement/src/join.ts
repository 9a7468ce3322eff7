import type { SettlementResult } from '@tollgate/common';

import type { PaymentAsker, Flight } from './attempts/attempt.js';
import type { SettlementParts } from './settlement-parts.js';
import { Deferred } from './state/deferred.js';

export type Joined = {
  /** How long the asker waits. */
  patienceMs: number;
} & (
  | { flight: Flight; isFirst: boolean }
  /** The asker's time was over before a settlement began. */
  | { flight: null; isFirst: false }
);

/** Each payment is settled once at a time in this process; further askers share the result (single-flight). */
export function join(
  { flights, waitMs, nowMs }: Pick<SettlementParts, 'flights' | 'waitMs' | 'nowMs'>,
  { name, questionId, requestId, deadlineMs }: PaymentAsker,
): Joined {
  const patienceMs = Math.min(deadlineMs - nowMs(), waitMs);
  const wantedUntilMs = nowMs() + patienceMs;
  const known = flights.get(name);
  // It may have been asked for before, here or elsewhere, and be in progress.
  if (patienceMs <= 0) return { flight: known ?? null, isFirst: false, patienceMs };
  if (known) {
    known.wantedUntilMs = Math.max(known.wantedUntilMs, wantedUntilMs);
    return { flight: known, isFirst: false, patienceMs };
  }
  const result = new Deferred<SettlementResult>();
  const flight: Flight = { questionId, requestId, jobId: null, isAnswered: false, wantedUntilMs, result };
  flights.set(name, flight);
  return { flight, isFirst: true, patienceMs };
}
