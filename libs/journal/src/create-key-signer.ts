import type { Hex } from '@tollgate/protocol';
import { keccak256 } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';

import { encodeTransaction } from './encode-transaction.js';
import type { LaneSigner } from './ports.js';

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
