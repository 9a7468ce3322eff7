import type { SignInTerms } from '@tollgate/protocol';

import type { SignInNonces } from './sign-in-nonces.js';

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
