import type { Hex } from '@tollgate/protocol';

import type { Curve } from './curve.js';
import { keccak256 } from './keccak.js';
import { useCurve } from './load-curve.js';

/** r, s and v: any other length can only be a contract's signature. */
const RECOVERABLE_LENGTH = 2 + 65 * 2;

/** The account whose key made the signature over the hash, in lower case; null when no key did. */
export function recoverAccount(hash: Hex, signature: Hex, curve: Curve = useCurve()): Hex | null {
  if (signature.length !== RECOVERABLE_LENGTH) return null;
  const v = Number.parseInt(signature.slice(130), 16);
  const yParity = v >= 27 ? v - 27 : v;
  if (yParity !== 0 && yParity !== 1) return null;
  const rs = Buffer.from(signature.slice(2, 130), 'hex');
  const publicKey = rs.length === 64 ? curve.recover(Buffer.from(hash.slice(2), 'hex'), rs, yParity) : null;
  return publicKey && addressOf(publicKey);
}

export function addressOf(publicKey: Uint8Array): Hex {
  return `0x${Buffer.from(keccak256(publicKey.subarray(1))).toString('hex', 12)}`;
}
