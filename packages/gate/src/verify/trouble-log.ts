import { FacilitatorError } from './facilitator.js';

const AGAIN_AFTER_MS = 60_000;

/**
 * The default of `onTrouble`: logs each error as a warning. A facilitator that refuses this server does so for every
 * payment, so refusals are logged once a minute for each status.
 */
export function createTroubleLog(
  warn: (text: string) => void = (text) => console.warn(text),
  nowMs: () => number = () => performance.now(),
): (error: Error) => void {
  const warnedAtMs = new Map<number, number>();
  return (error) => {
    if (error instanceof FacilitatorError && error.isRefused && error.status !== null) {
      const lastMs = warnedAtMs.get(error.status);
      if (lastMs !== undefined && nowMs() - lastMs < AGAIN_AFTER_MS) return;
      warnedAtMs.set(error.status, nowMs());
    }
    warn(error.message);
  };
}
