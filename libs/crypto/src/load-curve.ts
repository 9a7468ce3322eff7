import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';

import type { Curve } from './curve.js';

interface NativeBinding {
  contextRandomize(seed: Uint8Array): void;
  privateKeyVerify(key: Uint8Array): boolean;
  publicKeyCreate(key: Uint8Array, isCompressed: boolean): Uint8Array;
  ecdsaSign(hash: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  /** @throws when no key made the signature */
  ecdsaRecover(rs: Uint8Array, recid: number, hash: Uint8Array, isCompressed: boolean): Uint8Array;
}

// Loaded when it is first used, and found beside the services by Node: a bundle holds neither binaries nor WASM.
const load = createRequire(import.meta.url);
let chosen: Curve | null = null;

/**
 * The implementation that `TOLLGATE_SECP256K1` names; by default the native one, or WASM where no binary of it exists.
 * @throws Error when the native one is demanded and cannot be loaded
 */
export function useCurve(): Curve {
  return (chosen ??= chooseCurve(process.env.TOLLGATE_SECP256K1));
}

function chooseCurve(name: string | undefined): Curve {
  if (name === 'wasm') return loadWasm();
  try {
    return loadNative();
  } catch (cause) {
    if (name !== 'native') return loadWasm();
    const place = `${platform()}-${arch()}`;
    throw new Error(`TOLLGATE_SECP256K1=native: the package secp256k1 has no binary for ${place}. Use wasm.`, {
      cause,
    });
  }
}

/** libsecp256k1 as an addon. The package's main file is not loaded: it would fall back to JavaScript silently. */
export function loadNative(): Curve {
  const binding = load('secp256k1/bindings.js') as NativeBinding;
  // Blinds the arithmetic with a private key against timing attacks.
  binding.contextRandomize(randomBytes(32));
  return {
    name: 'native',
    isPrivateKey: (key) => binding.privateKeyVerify(key),
    publicKeyOf: (privateKey) => binding.publicKeyCreate(privateKey, false),
    sign: (hash, privateKey) => {
      const { signature, recid } = binding.ecdsaSign(hash, privateKey);
      return { rs: signature, yParity: recid };
    },
    recover: (hash, rs, yParity) => nullIfThrown(() => binding.ecdsaRecover(rs, yParity, hash, false)),
  };
}

/** libsecp256k1 compiled to WASM. */
export function loadWasm(): Curve {
  const wasm = load('tiny-secp256k1') as typeof import('tiny-secp256k1');
  return {
    name: 'wasm',
    isPrivateKey: (key) => wasm.isPrivate(key),
    publicKeyOf: (privateKey) => {
      const publicKey = wasm.pointFromScalar(privateKey, false);
      if (publicKey === null) throw new RangeError('The private key has no public key.');
      return publicKey;
    },
    sign: (hash, privateKey) => {
      const { signature, recoveryId } = wasm.signRecoverable(hash, privateKey);
      return { rs: signature, yParity: recoveryId };
    },
    recover: (hash, rs, yParity) =>
      nullIfThrown(() => (yParity === 0 || yParity === 1 ? wasm.recover(hash, rs, yParity, false) : null)),
  };
}

function nullIfThrown<T>(call: () => T): T | null {
  try {
    return call();
  } catch {
    // Not a point of the curve.
    return null;
  }
}
