import { createPreimageSigner, type PreimageSigner } from '@tollgate/crypto';
import type { Hex } from '@tollgate/protocol';

import type { LaneSigner } from '../jobs/ports.js';
import { encodeTransaction } from './encode-transaction.js';

/** @throws RangeError for a key that is zero or beyond the order of the curve */
export function createKeySigner(privateKey: Hex): LaneSigner {
  const signer = createPreimageSigner(privateKey);
  if (signer === null) throw new RangeError('The private key is not valid on secp256k1.');
  return createLaneSigner(signer);
}

/**
 * The signer of a private key: 32 bytes in hexadecimal, with or without `0x`. Null when the key is invalid; no reason
 * is given, because an error text could quote the key.
 */
export function readKeySigner(privateKey: string): LaneSigner | null {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey.trim())?.[1];
  const signer = digits === undefined ? null : createPreimageSigner(`0x${digits}`);
  return signer && createLaneSigner(signer);
}

function createLaneSigner(signer: PreimageSigner): LaneSigner {
  return {
    address: signer.address,
    sign: async (transaction) => {
      const signature = await signer.sign(encodeTransaction(transaction));
      const signed = encodeTransaction(transaction, signature);
      return `0x${Buffer.from(signed).toString('hex')}`;
    },
  };
}
