import type { Hex } from '@tollgate/protocol';

import { malformed, parseAddress, parseData, parseHash, parseObject } from '../rpc/rpc-value.js';

export interface Transaction {
  /** The calldata, in lower case. */
  input: Hex;
  /** In lower case; null when the transaction creates a contract. */
  to: Hex | null;
  /** Null while the transaction is not mined. */
  blockHash: Hex | null;
}

/**
 * Parses the result of `eth_getTransactionByHash`; null when the node does not know it.
 *
 * @throws ChainUnavailableError when the shape is wrong, or it is another transaction
 */
export function parseTransaction(value: unknown, txHash: Hex): Transaction | null {
  if (value === null) return null;
  const transaction = parseObject(value, 'transaction');
  if (parseHash(transaction.hash, 'transaction.hash') !== txHash) return malformed('another transaction');
  const { blockHash, to } = transaction;
  return {
    input: parseData(transaction.input, 'transaction.input'),
    to: to === null || to === undefined ? null : parseAddress(to, 'transaction.to'),
    blockHash: blockHash === null || blockHash === undefined ? null : parseHash(blockHash, 'transaction.blockHash'),
  };
}
