import { createKeySigner } from './create-key-signer.js';
import type { LaneSigner } from './ports.js';

/**
 * The signer of a private key: 32 bytes in hexadecimal, with or without `0x`. Null when the key is invalid; no reason
 * is given, because an error text could quote the key.
 */
export function readKeySigner(privateKey: string): LaneSigner | null {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey.trim())?.[1];
  if (digits === undefined) return null;
  try {
    return createKeySigner(`0x${digits}`);
  } catch {
    // Zero, or beyond the order of the curve.
    return null;
  }
}
