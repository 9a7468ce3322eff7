import { readTransferLog, TRANSFER, type Hex } from '@tollgate/protocol';

import { encodeAddress } from '../contracts/abi-encoding.js';
import { parseBlock, type Block, parseLog, parseReceipt, type Receipt } from '../receipts/receipt.js';
import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcResult } from '../rpc/rpc-endpoint.js';
import {
  malformed,
  parseAddress,
  parseBigQuantity,
  parseHash,
  parseObject,
  parseQuantity,
  toQuantity,
} from '../rpc/rpc-value.js';

/** An ERC-20 transfer, as its log shows it. */
export interface MinedTransfer {
  txHash: Hex;
  /** In its block. */
  logIndex: number;
  blockNumber: number;
  /** Null where the node leaves it out of logs. */
  blockTimeMs: number | null;
  asset: Hex;
  from: Hex;
  amountBaseUnits: bigint;
}

export interface TransferSearch {
  assets: readonly Hex[];
  /** The recipient, in lower case. */
  to: Hex;
  fromBlock: number;
  toBlock: number;
}

/** A receipt with what the transaction cost. */
export interface CostedReceipt extends Receipt {
  gasUsed: bigint;
  /** Wei per gas; null where the node does not return it. */
  effectiveGasPrice: bigint | null;
}

/** A transaction as its block has it. */
export interface BlockTransaction {
  txHash: Hex;
  from: Hex;
  nonce: number;
  /** Native coin sent along, in wei. */
  value: bigint;
}

/** Reads final blocks, for comparisons that may take long. Each read rejects with ChainUnavailableError. */
export class ChainHistory {
  constructor(
    private readonly batcher: RpcBatcher,
    private readonly nowMs: () => number,
    private readonly withinMs: number,
  ) {}

  readHead(): Promise<number> {
    return this.batcher.ask({ calls: [], deadlineMs: this.#deadline(), read: (_, head) => head });
  }

  /** Null: the node does not have the block. */
  readBlock(number: number): Promise<Block | null> {
    return this.batcher.ask({
      calls: [{ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }],
      deadlineMs: this.#deadline(),
      read: ([block]) => parseBlock(valueOf(block, 'eth_getBlockByNumber')),
    });
  }

  /** Null: the node refuses so many blocks, or so many logs. Transfers of 0 are left out, because they move nothing. */
  async readTransfers(search: TransferSearch): Promise<MinedTransfer[] | null> {
    const { assets, to, fromBlock, toBlock } = search;
    const topics = [[TRANSFER], null, [`0x${encodeAddress(to)}`]];
    const filter = { address: assets, topics, fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
    try {
      return await this.batcher.ask({
        calls: [{ method: 'eth_getLogs', params: [filter] }],
        deadlineMs: this.#deadline(),
        read: ([result], head) => {
          // A node that lags behind the one asked before would miss logs that exist.
          if (head < toBlock) throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server is behind the head.');
          return result?.kind === 'error' ? null : readTransfers(result, search);
        },
      });
    } catch (error) {
      if (error instanceof ChainUnavailableError && TOO_MUCH.has(error.reason)) return null;
      throw error;
    }
  }

  /** Null for a transaction that is in no block. */
  readReceipts(hashes: readonly Hex[]): Promise<(CostedReceipt | null)[]> {
    if (hashes.length === 0) return Promise.resolve([]);
    return this.batcher.ask({
      calls: hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      deadlineMs: this.#deadline(),
      read: (results) =>
        hashes.map((hash, index) => parseCosts(valueOf(results[index], 'eth_getTransactionReceipt'), hash)),
    });
  }

  /** How many transactions each account had sent up to a block. Null: the node does not have the state of the block. */
  countTransactions(addresses: readonly Hex[], blockNumber: number): Promise<(number | null)[]> {
    if (addresses.length === 0) return Promise.resolve([]);
    const block = toQuantity(blockNumber);
    return this.batcher.ask({
      calls: addresses.map((address) => ({ method: 'eth_getTransactionCount', params: [address, block] })),
      deadlineMs: this.#deadline(),
      read: (results) =>
        results.map((result) =>
          result.kind === 'error' ? null : parseQuantity(valueOf(result, 'eth_getTransactionCount'), 'nonce'),
        ),
    });
  }

  /** The transactions of a block. */
  readTransactions(blockNumber: number): Promise<BlockTransaction[]> {
    return this.batcher.ask({
      calls: [{ method: 'eth_getBlockByNumber', params: [toQuantity(blockNumber), true] }],
      deadlineMs: this.#deadline(),
      read: ([result]) => {
        const { transactions } = parseObject(valueOf(result, 'eth_getBlockByNumber'), 'block');
        if (!Array.isArray(transactions)) return malformed('a block without transactions');
        return transactions.map(parseSent);
      },
    });
  }

  #deadline(): number {
    return this.nowMs() + this.withinMs;
  }
}

/** Failures that a search of fewer blocks may avoid. */
const TOO_MUCH: ReadonlySet<string> = new Set(['rpc_response_too_large', 'rpc_timeout', 'rpc_http_error']);

function readTransfers(result: RpcResult | undefined, search: TransferSearch): MinedTransfer[] {
  const values = valueOf(result, 'eth_getLogs');
  if (!Array.isArray(values)) return malformed('logs that are not a list');
  return values.flatMap((value: unknown): MinedTransfer[] => {
    const fields = parseObject(value, 'log');
    const log = parseLog(fields);
    const blockNumber = parseQuantity(fields.blockNumber, 'log.blockNumber');
    const transfer = readTransferLog(log);
    const isWanted =
      search.assets.includes(log.address) && blockNumber >= search.fromBlock && blockNumber <= search.toBlock;
    if (!isWanted || fields.removed === true) return malformed('a log that was not asked for');
    if (transfer === null) return [];
    if (transfer.to !== search.to) return malformed('a log that was not asked for');
    const { from, amountBaseUnits } = transfer;
    if (amountBaseUnits === 0n) return [];
    const time = fields.blockTimestamp;
    return [
      {
        txHash: parseHash(fields.transactionHash, 'log.transactionHash'),
        logIndex: log.logIndex,
        blockNumber,
        blockTimeMs: typeof time === 'string' ? parseQuantity(time, 'log.blockTimestamp') * 1000 : null,
        asset: log.address,
        from,
        amountBaseUnits,
      },
    ];
  });
}

function parseCosts(value: unknown, hash: Hex): CostedReceipt | null {
  const receipt = parseReceipt(value, hash);
  if (receipt === null) return null;
  const { gasUsed, effectiveGasPrice } = parseObject(value, 'receipt');
  const price = effectiveGasPrice ?? null;
  return {
    ...receipt,
    gasUsed: parseBigQuantity(gasUsed, 'gas used'),
    effectiveGasPrice: price === null ? null : parseBigQuantity(price, 'gas price'),
  };
}

function parseSent(value: unknown): BlockTransaction {
  const { hash, from, nonce, value: sent } = parseObject(value, 'transaction');
  return {
    txHash: parseHash(hash, 'transaction.hash'),
    from: parseAddress(from, 'transaction.from'),
    nonce: parseQuantity(nonce, 'nonce'),
    value: parseBigQuantity(sent, 'value'),
  };
}
