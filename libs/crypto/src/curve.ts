/** One implementation of secp256k1. Hashes and keys have 32 bytes, signatures 64 (r, s), public keys 65. */
export interface Curve {
  readonly name: 'native' | 'wasm';
  isPrivateKey(key: Uint8Array): boolean;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  /** Deterministic (RFC 6979), with `s` in the lower half. */
  sign(hash: Uint8Array, privateKey: Uint8Array): { rs: Uint8Array; yParity: number };
  /** The public key; null when no key made the signature. */
  recover(hash: Uint8Array, rs: Uint8Array, yParity: number): Uint8Array | null;
}
