import type { SignInTerms } from '@tollgate/protocol';

import type { SignInNonces } from './sign-in-nonces.js';

/** How long a sign-in may be presented: a wallet may ask its owner first. */
export const SIGN_IN_LIFETIME_MS = 300_000;

/** What differs from challenge to challenge. */
export type SignInParts = Pick<SignInTerms, 'nonce' | 'issuedAt' | 'expirationTime'>;

/** Asks for a sign-in to the resource at this URI. */
export function createSignInParts(nonces: SignInNonces, uri: string, nowMs: number): SignInParts {
  const issuedAt = new Date(nowMs).toISOString();
  const expirationTime = new Date(nowMs + SIGN_IN_LIFETIME_MS).toISOString();
  return { nonce: nonces.create(uri, issuedAt), issuedAt, expirationTime };
}

/** @param issuedAt of a nonce of ours */
export function expirationOf(issuedAt: string): string {
  return new Date(Date.parse(issuedAt) + SIGN_IN_LIFETIME_MS).toISOString();
}
