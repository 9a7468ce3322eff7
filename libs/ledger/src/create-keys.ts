import { hash, randomFillSync } from 'node:crypto';

const KEY_BYTES = 16;

// Random bytes are drawn in bulk; each is used once.
const owners = Buffer.allocUnsafeSlow(256 * KEY_BYTES);
let drawnTo = owners.length;

/** Sixteen bytes of SHA-256 as 22 base64url characters. The ledger stores this instead of the key itself. */
function shorten(text: string): string {
  // `hash` with text takes half the time of a Hash object and its Buffer.
  return Buffer.from(hash('sha256', text, 'binary').slice(0, KEY_BYTES), 'latin1').toString('base64url');
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
  /** The part that is asked for: a `Range` header. */
  range?: string | undefined;
}

/** Identifies a request by its parts. 22 characters; the newlines keep the parts distinct. */
export function createFingerprint({ method, path, query, body, range }: RequestParts): string {
  const bodyHash = body && body.length > 0 ? hash('sha256', body, 'base64url') : '';
  const part = range === undefined ? '' : `\n${range}`;
  return shorten(`${method}\n${path}\n${query}\n${bodyHash}${part}`);
}

/** A random 128-bit name for one request's hold on a payment, never taken from the client. 22 characters. */
export function createOwner(): string {
  if (drawnTo === owners.length) {
    randomFillSync(owners);
    drawnTo = 0;
  }
  return owners.toString('base64url', drawnTo, (drawnTo += KEY_BYTES));
}
