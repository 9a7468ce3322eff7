import type { Hex } from '@tollgate/protocol';

/** A signed transaction. For one payment only these bytes are ever sent. */
export interface SignedTransaction {
  txHash: Hex;
  rawTransaction: Hex;
  nonce: number;
}
