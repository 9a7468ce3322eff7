import { timingSafeEqual } from 'node:crypto';

import type { SignInTerms } from '@tollgate/protocol';

import { createHmacSha256 } from './hmac-sha256.js';
import { createNoncePool } from './nonce-pool.js';

const BYTES = 16;
const NONCE = /^[0-9a-f]{64}$/;

/**
 * Nonces that are recognised without being stored: half of each is random, the other half an HMAC of that, the resource
 * and the time, under `CHALLENGE_SECRET`. A nonce is valid as long as its sign-in; `Revisits` ensures that it is used
 * only once.
 */
export class SignInNonces {
  readonly #secrets: readonly Uint8Array[];
  readonly #hmac = createHmacSha256();
  readonly #nextRandom = createNoncePool();

  /** The first secret signs; nonces signed with the others are still accepted. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret));
  }

  /** Creates the nonce for one challenge of the resource at this URI. */
  create(uri: string, issuedAt: string): string {
    const random = Buffer.from(this.#nextRandom()).toString('hex');
    const [secret] = this.#secrets;
    if (secret === undefined) throw new TypeError('There is no secret to sign nonces with.');
    return random + this.#sign(secret, { random, uri, issuedAt }).toString('hex');
  }

  /** Whether the gateway issued the nonce for this resource at this time. */
  isOwn(nonce: string, uri: string, issuedAt: string): boolean {
    if (!NONCE.test(nonce)) return false;
    const random = nonce.slice(0, 2 * BYTES);
    const presented = Buffer.from(nonce.slice(2 * BYTES), 'hex');
    return this.#secrets.some((secret) => timingSafeEqual(this.#sign(secret, { random, uri, issuedAt }), presented));
  }

  // The prefix separates these messages from those of references, which begin with a time as bytes.
  #sign(secret: Uint8Array, { random, uri, issuedAt }: Record<'random' | 'uri' | 'issuedAt', string>): Buffer {
    const message = Buffer.from(`sign-in\n${random}\n${issuedAt}\n${uri}`);
    return Buffer.from(this.#hmac(secret, message).slice(0, BYTES));
  }
}

/** How long a sign-in is valid: long enough for a wallet to ask its owner. */
export const SIGN_IN_LIFETIME_MS = 300_000;

/** The parts that differ in each challenge. */
export type SignInParts = Pick<SignInTerms, 'nonce' | 'issuedAt' | 'expirationTime'>;

/** Creates the parts that ask for a sign-in to the resource at this URI. */
export function createSignInParts(nonces: SignInNonces, uri: string, nowMs: number): SignInParts {
  const issuedAt = new Date(nowMs).toISOString();
  const expirationTime = new Date(nowMs + SIGN_IN_LIFETIME_MS).toISOString();
  return { nonce: nonces.create(uri, issuedAt), issuedAt, expirationTime };
}

/** @param issuedAt the time a nonce of this gateway was issued */
export function expirationOf(issuedAt: string): string {
  return new Date(Date.parse(issuedAt) + SIGN_IN_LIFETIME_MS).toISOString();
}
