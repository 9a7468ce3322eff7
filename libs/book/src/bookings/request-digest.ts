import { sha256 } from './canonical-json.js';

/** Names a request by a salted hash, so that a proof shows it only to those who know the request. */
export function requestDigest(salt: string, requestHash: string): string {
  return sha256(`${salt}:${requestHash}`);
}
