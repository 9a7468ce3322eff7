import type { Hex } from '@tollgate/protocol';
import { keccak256 } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';

import type { LaneSigner } from '../jobs/ports.js';
import { encodeTransaction } from './encode-transaction.js';

/**
 * Signs with a private key of this process. The key stays in the closure, so no object that could be logged holds it.
 */
export function createKeySigner(privateKey: Hex): LaneSigner {
  const { address } = privateKeyToAccount(privateKey);
  return {
    address: address.toLowerCase() as Hex,
    sign: async (transaction) => {
      const { r, s, v } = await sign({ privateKey, hash: keccak256(encodeTransaction(transaction)) });
      const signed = encodeTransaction(transaction, { r, s, yParity: v === 28n ? 1 : 0 });
      return `0x${Buffer.from(signed).toString('hex')}`;
    },
  };
}

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
