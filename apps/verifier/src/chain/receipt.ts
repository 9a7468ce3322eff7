import type { Hex } from '@tollgate/protocol';

import { malformed, parseAddress, parseData, parseHash, parseObject, parseQuantity } from './rpc-value.js';

/** What a contract has said, wherever that was. All hexadecimal text is in lower case. */
export interface EmittedLog {
  address: Hex;
  topics: readonly Hex[];
  data: Hex;
}

export interface Log extends EmittedLog {
  logIndex: number;
}

export interface Receipt {
  txHash: Hex;
  blockHash: Hex;
  blockNumber: number;
  /** The specification's words: clients such as viem say `reverted` for `failed`. */
  status: 'success' | 'failed';
  /** Who sent the transaction, which need not be who pays. */
  from: Hex;
  logs: Log[];
  /** From the logs, where the node puts it there; null: ask for the block. */
  blockTimeMs: number | null;
}

/**
 * Reads the result of `eth_getTransactionReceipt`; null when there is none yet.
 *
 * @throws ChainUnavailableError when the shape is wrong, or it is not the receipt that was asked for
 */
export function parseReceipt(value: unknown, txHash: Hex): Receipt | null {
  if (value === null) return null;
  const receipt = parseObject(value, 'receipt');
  if (parseHash(receipt.transactionHash, 'transactionHash') !== txHash) return malformed('another transaction');
  const blockHash = parseHash(receipt.blockHash, 'blockHash');
  const blockNumber = parseQuantity(receipt.blockNumber, 'blockNumber');
  if (!Array.isArray(receipt.logs)) return malformed('a receipt without logs');

  let blockTimeMs: number | null = null;
  const logs = receipt.logs.map((entry: unknown) => {
    const log = parseObject(entry, 'log');
    if (parseHash(log.transactionHash, 'log.transactionHash') !== txHash)
      return malformed('a log of another transaction');
    if (parseHash(log.blockHash, 'log.blockHash') !== blockHash) return malformed('a log of another block');
    if (log.removed === true) return malformed('a removed log');
    if (log.blockTimestamp !== undefined && log.blockTimestamp !== null) {
      blockTimeMs = parseQuantity(log.blockTimestamp, 'log.blockTimestamp') * 1000;
    }
    return parseLog(log);
  });
  return {
    txHash,
    blockHash,
    blockNumber,
    status: parseStatus(receipt.status),
    from: parseAddress(receipt.from, 'from'),
    logs,
    blockTimeMs,
  };
}

/** Reads a log. Which block and transaction it is in is the caller's to check. */
export function parseLog(log: Record<string, unknown>): Log {
  if (!Array.isArray(log.topics)) return malformed('a log without topics');
  return {
    address: parseAddress(log.address, 'log.address'),
    topics: log.topics.map((topic: unknown) => parseHash(topic, 'log.topic')),
    data: parseData(log.data, 'log.data'),
    logIndex: parseQuantity(log.logIndex, 'logIndex'),
  };
}

function parseStatus(value: unknown): Receipt['status'] {
  if (value === '0x1') return 'success';
  return value === '0x0' ? 'failed' : malformed('a receipt without status');
}
