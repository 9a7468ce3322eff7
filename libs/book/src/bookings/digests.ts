import { hash } from 'node:crypto';

/** SHA-256 of a text or of bytes, 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** Names a request by a salted hash, so that a proof shows it only to those who know the request. */
export function requestDigest(salt: string, requestHash: string): string {
  return sha256(`${salt}:${requestHash}`);
}
