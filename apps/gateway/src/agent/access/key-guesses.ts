import { hash } from 'node:crypto';

import { RateLimit } from '../../server/rate-limit.js';

const MAX_ADMITTED = 10_000;

/**
 * Bounds how many wrong API keys one client address may try. Keys that were let in here before stay out of it: who
 * shares an address with somebody that guesses, behind one proxy for example, is not locked out by him.
 */
export class KeyGuesses {
  readonly #refusals: RateLimit;
  /** Hashes of tokens, the one that got in least lately first. */
  readonly #admitted = new Set<string>();

  constructor(
    refusalsPerMinute: number,
    private readonly maxAdmitted = MAX_ADMITTED,
  ) {
    this.#refusals = new RateLimit(refusalsPerMinute);
  }

  /** Zero when the token may be looked up, otherwise the milliseconds until one of this address may be again. */
  look(address: string, token: string, nowMs = Date.now()): number {
    const waitMs = this.#refusals.look(address, nowMs);
    return waitMs > 0 && this.#admitted.has(hashToken(token)) ? 0 : waitMs;
  }

  /** A look-up let the token in. It does not make a guess right: the next look-up decides anew. */
  admit(token: string): void {
    const hashed = hashToken(token);
    this.#admitted.delete(hashed);
    this.#admitted.add(hashed);
    for (const oldest of this.#admitted) {
      if (this.#admitted.size <= this.maxAdmitted) return;
      this.#admitted.delete(oldest);
    }
  }

  /** A look-up refused the token. Zero when that may be said, otherwise as `look`. */
  refuse(address: string, token: string, nowMs = Date.now()): number {
    this.#admitted.delete(hashToken(token));
    return this.#refusals.take(address, nowMs);
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
