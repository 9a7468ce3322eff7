import { hash } from 'node:crypto';

import { RateLimit } from '../http/rate-limit.js';

const MAX_ADMITTED = 10_000;

/**
 * Bounds how many wrong API keys one client address may try. Keys admitted earlier are exempt: a client that shares an
 * address with an attacker, for example behind one proxy, is not locked out.
 */
export class KeyGuesses {
  readonly #refusals: RateLimit;
  /** Hashes of admitted tokens, least recently admitted first. */
  readonly #admitted = new Set<string>();

  constructor(
    refusalsPerMinute: number,
    private readonly maxAdmitted = MAX_ADMITTED,
  ) {
    this.#refusals = new RateLimit(refusalsPerMinute);
  }

  /** Zero if the token may be looked up, otherwise the milliseconds until this address may try again. */
  look(address: string, token: string, nowMs = Date.now()): number {
    const waitMs = this.#refusals.look(address, nowMs);
    return waitMs > 0 && this.#admitted.has(hashToken(token)) ? 0 : waitMs;
  }

  /** Records that a look-up accepted the token. This is not cached as an answer: the next look-up decides again. */
  admit(token: string): void {
    const hashed = hashToken(token);
    this.#admitted.delete(hashed);
    this.#admitted.add(hashed);
    for (const oldest of this.#admitted) {
      if (this.#admitted.size <= this.maxAdmitted) return;
      this.#admitted.delete(oldest);
    }
  }

  /** Records that a look-up refused the token. Zero if the client may be informed of it, otherwise as `look`. */
  refuse(address: string, token: string, nowMs = Date.now()): number {
    this.#admitted.delete(hashToken(token));
    return this.#refusals.take(address, nowMs);
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
