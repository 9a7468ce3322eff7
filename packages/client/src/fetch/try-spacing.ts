/** What a gate accepts a released payment for: five failures of its resource, and fifty answers that it is busy. */
export type TryLimit = 'failure' | 'busy';

/** Timers do not count much further, and no gate keeps a payment for as long as that. */
const LONGEST_SPAN_MS = 24 * 3_600_000;

/**
 * Spreads the tries that a gate counts over the time there is: a client that uses them up in seconds ends its payment for a
 * resource that is back a minute later. One call has four failures at most, so that the next one still has a try.
 */
export class TrySpacing {
  #failures = 0;
  readonly #spanMs: number;

  constructor(spanMs: number) {
    this.#spanMs = Math.min(spanMs, LONGEST_SPAN_MS);
  }

  /** @param toldMs what the server asked for, or the usual time */
  delayMs(toldMs: number, uses: TryLimit | null): number {
    const leastMs =
      uses === 'busy' ? this.#spanMs / 40 : uses === 'failure' ? (this.#spanMs / 15) * 2 ** this.#failures++ : 0;
    return Math.min(Math.max(toldMs, leastMs), LONGEST_SPAN_MS);
  }
}
