import type { EmittedLog, Hex } from '@tollgate/protocol';

import { malformed, parseAddress, parseData, parseHash, parseObject, parseQuantity } from '../rpc/rpc-value.js';

export interface Log extends EmittedLog {
  logIndex: number;
}

export interface Receipt {
  txHash: Hex;
  blockHash: Hex;
  blockNumber: number;
  /** In the specification's words; clients such as viem call `failed` `reverted`. */
  status: 'success' | 'failed';
  /** The sender of the transaction, which need not be the payer. */
  from: Hex;
  logs: Log[];
  /** From the logs, when the node includes it; null means the block has to be read. */
  blockTimeMs: number | null;
}

/**
 * Parses the result of `eth_getTransactionReceipt`; null when there is none yet.
 *
 * @throws ChainUnavailableError when the shape is wrong, or it is the receipt of another transaction
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

/** Parses a log. The caller checks its block and transaction. */
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
