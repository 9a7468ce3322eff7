import type { Hex } from '@tollgate/protocol';

import { parseHash, parseObject, parseQuantity } from '../rpc/rpc-value.js';

export interface Block {
  hash: Hex;
  number: number;
  timeMs: number;
}

/** Parses the result of `eth_getBlockByHash` or `eth_getBlockByNumber`; null when the node does not have the block. */
export function parseBlock(value: unknown): Block | null {
  if (value === null) return null;
  const block = parseObject(value, 'block');
  return {
    hash: parseHash(block.hash, 'block.hash'),
    number: parseQuantity(block.number, 'block.number'),
    timeMs: parseQuantity(block.timestamp, 'block.timestamp') * 1000,
  };
}
