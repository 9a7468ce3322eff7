import {
  malformed,
  parseAddress,
  parseBigQuantity,
  parseData,
  parseHash,
  parseObject,
  parseQuantity,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import type { ReceiptLog, StepReceipt } from '../ports.js';

/** @throws ChainUnavailableError when the value is not a receipt, or belongs to another transaction */
export function parseReceipt(value: unknown, hash: Hex): StepReceipt {
  const receipt = parseObject(value, 'receipt');
  const transactionHash = parseHash(receipt.transactionHash, 'transaction hash');
  if (transactionHash !== hash.toLowerCase()) return malformed('the receipt of another transaction');
  if (!Array.isArray(receipt.logs)) return malformed('a receipt without logs');
  return {
    transactionHash,
    blockHash: parseHash(receipt.blockHash, 'block hash'),
    blockNumber: parseQuantity(receipt.blockNumber, 'block number'),
    status: parseStatus(receipt.status),
    gasUsed: parseBigQuantity(receipt.gasUsed, 'gas used'),
    logs: receipt.logs.map(parseLog),
  };
}

function parseStatus(value: unknown): StepReceipt['status'] {
  const status = parseQuantity(value, 'status');
  if (status > 1) return malformed(`a receipt of status ${status}`);
  return status === 1 ? 'success' : 'reverted';
}

function parseLog(value: unknown): ReceiptLog {
  const { address, topics, data } = parseObject(value, 'log');
  if (!Array.isArray(topics)) return malformed('a log without topics');
  return {
    address: parseAddress(address, 'log address'),
    topics: topics.map((topic) => parseHash(topic, 'topic')),
    data: parseData(data, 'log data'),
  };
}
