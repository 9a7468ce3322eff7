import { createHash, randomBytes } from 'node:crypto';

/** Sixteen bytes of SHA-256 as 22 base64url characters: what the ledger keeps of a key, never the key itself. */
function shorten(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}

/** Hashes an `Idempotency-Key` header, or the reference of a bound payment, to 22 characters. */
export function hashRetryKey(retryKey: string): string {
  return shorten(retryKey);
}

export interface RequestParts {
  method: string;
  path: string;
  query: string;
  body?: Uint8Array;
}

/** Identifies what was asked: method, path, query and body. 22 characters; each part is length-safe by its newline. */
export function createFingerprint({ method, path, query, body }: RequestParts): string {
  const bodyHash = body && body.length > 0 ? createHash('sha256').update(body).digest('base64url') : '';
  return shorten(`${method}\n${path}\n${query}\n${bodyHash}`);
}

/** A random 128-bit name for one request's hold on a payment; never taken from the client. 22 characters. */
export function createOwner(): string {
  return randomBytes(16).toString('base64url');
}
