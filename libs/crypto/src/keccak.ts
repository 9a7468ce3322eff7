import { createRequire } from 'node:module';

import type { Hex } from '@tollgate/protocol';
import type { IHasher } from 'hash-wasm';
import { keccak256 as hashInJavaScript } from 'viem';

// This hash alone, a twentieth of the package, and unbundled like the other WASM.
const load = createRequire(import.meta.url);
let hasher: IHasher | null = null;
let loading: Promise<void> | null = null;

/** In WASM, which takes a tenth of the time of JavaScript. Until it is loaded, the first hashes are made in JavaScript. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  if (hasher !== null) return hasher.init().update(bytes).digest('binary');
  // A process that serves has awaited it at its start, and does not run without it.
  loadKeccak().catch(() => undefined);
  return hashInJavaScript(bytes, 'bytes');
}

/** The keccak256 of bytes, in hexadecimal. */
export function keccak256OfBytes(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(keccak256(bytes)).toString('hex')}`;
}

/** The keccak256 of bytes that are written in hexadecimal. */
export function keccak256Hex(bytes: Hex): Hex {
  return keccak256OfBytes(Buffer.from(bytes.slice(2), 'hex'));
}

/** @throws what the compilation of WASM throws */
export function loadKeccak(): Promise<void> {
  return (loading ??= createHasher());
}

async function createHasher(): Promise<void> {
  const { createKeccak } = load('hash-wasm/dist/keccak.umd.min.js') as typeof import('hash-wasm');
  hasher = await createKeccak(256);
}
