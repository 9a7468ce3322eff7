import { timingSafeEqual } from 'node:crypto';

import { createHmacSha256 } from '../paywall/hmac-sha256.js';
import { createNoncePool } from '../paywall/nonce-pool.js';

const BYTES = 16;
const NONCE = /^[0-9a-f]{64}$/;

/**
 * Nonces that are known again without having been kept: half of each is random, half an HMAC over that, the resource
 * and the time, under `CHALLENGE_SECRET`. Each lasts as long as its sign-in; `Revisits` sees to it that it is used once.
 */
export class SignInNonces {
  readonly #secrets: readonly Uint8Array[];
  readonly #hmac = createHmacSha256();
  readonly #nextRandom = createNoncePool();

  /** The first secret signs; the others are still accepted. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
  }

  /** For one challenge of the resource at this URI. */
  create(uri: string, issuedAt: string): string {
    const random = Buffer.from(this.#nextRandom()).toString('hex');
    const [secret] = this.#secrets;
    if (secret === undefined) throw new TypeError('There is no secret to sign nonces with.');
    return random + this.#sign(secret, { random, uri, issuedAt }).toString('hex');
  }

  /** Whether a challenge of this resource asked for it at this time. */
  isOwn(nonce: string, uri: string, issuedAt: string): boolean {
    if (!NONCE.test(nonce)) return false;
    const random = nonce.slice(0, 2 * BYTES);
    const presented = Buffer.from(nonce.slice(2 * BYTES), 'hex');
    return this.#secrets.some((secret) => timingSafeEqual(this.#sign(secret, { random, uri, issuedAt }), presented));
  }

  // No reference's message begins so: those begin with a time as bytes.
  #sign(secret: Uint8Array, { random, uri, issuedAt }: Record<'random' | 'uri' | 'issuedAt', string>): Buffer {
    const message = Buffer.from(`sign-in\n${random}\n${issuedAt}\n${uri}`);
    return Buffer.from(this.#hmac(secret, message).slice(0, BYTES));
  }
}
