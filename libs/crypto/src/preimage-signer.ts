import type { Hex } from '@tollgate/protocol';

import type { Curve } from './curve.js';
import { keccak256 } from './keccak.js';
import { useCurve } from './load-curve.js';
import { addressOf } from './recover-account.js';

export interface Signature {
  r: bigint;
  s: bigint;
  yParity: number;
}

/** Signs for one account. Asynchronous, because the key may be in another process. */
export interface PreimageSigner {
  /** In lower case. */
  readonly address: Hex;
  /** Signs the keccak256 of these bytes. */
  sign(preimage: Uint8Array): Promise<Signature>;
  /** Signs a hash of 32 bytes: that of EIP-712 typed data, which is no keccak256 of anything that a transaction is. */
  signHash(hash: Uint8Array): Promise<Signature>;
}

/**
 * Signs with a private key of this process. The key stays in the closure, so no object that could be logged holds it.
 * Null when the key is zero, or beyond the order of the curve.
 */
export function createPreimageSigner(privateKey: Hex, curve: Curve = useCurve()): PreimageSigner | null {
  const key = Buffer.from(privateKey.slice(2), 'hex');
  if (key.length !== 32 || !curve.isPrivateKey(key)) return null;
  const publicKey = curve.publicKeyOf(key);
  const signHash = async (hash: Uint8Array): Promise<Signature> => {
    const { rs, yParity } = curve.sign(hash, key);
    // A faulty signature could reveal the key.
    const recovered = curve.recover(hash, rs, yParity);
    if (recovered === null || Buffer.compare(recovered, publicKey) !== 0)
      throw new Error(`secp256k1 (${curve.name}) made a signature that does not recover its key; it was discarded.`);
    return { r: readNumber(rs.subarray(0, 32)), s: readNumber(rs.subarray(32)), yParity };
  };
  return {
    address: addressOf(publicKey),
    sign: async (preimage) => signHash(keccak256(preimage)),
    signHash,
  };
}

function readNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
