import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  askForCode,
  askForNativeBalance,
  combineObservers,
  connectChain,
  hasCode,
  parseBigQuantity,
  parseObject,
  parseQuantity,
  parseReceipt,
  parseTransaction,
  valueOf,
  type ConnectedChain,
  type Receipt,
  type RpcCall,
  type RpcResult,
  type Transaction,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';

const CONNECTIONS = 4;
const BATCH_SIZE = 100;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Logs are searched by the reconciler alone. */
const NO_LOGS = 1;

/** The seller's chain. Every read throws ChainUnavailableError when no RPC server gives a usable answer. */
@Injectable()
export class SellerChain implements OnApplicationShutdown {
  readonly chainId: number;
  readonly #chain: ConnectedChain;
  readonly #withinMs: number;

  constructor(@Inject(BookkeeperEnvironment) { chain, payment }: BookkeeperEnvironment) {
    this.chainId = payment.chainId;
    this.#withinMs = chain.rpcTimeoutMs * chain.rpcUrl.length;
    this.#chain = connectChain({
      ...{ urls: chain.rpcUrl, chainId: payment.chainId, timeoutMs: chain.rpcTimeoutMs },
      ...{ batchSize: BATCH_SIZE, batchesInFlight: CONNECTIONS, observer: combineObservers(), nowMs },
      ...{ maxResponseBytes: MAX_RESPONSE_BYTES, maxReceiptBytes: MAX_RESPONSE_BYTES, logRangeBlocks: NO_LOGS },
    });
  }

  /** Null where the chain has no such transaction. */
  readReceipt(txHash: Hex): Promise<Receipt | null> {
    return this.#ask({ method: 'eth_getTransactionReceipt', params: [txHash] }, (result) =>
      parseReceipt(valueOf(result, 'eth_getTransactionReceipt'), txHash),
    );
  }

  /** Null where the chain has no such transaction. */
  readTransaction(txHash: Hex): Promise<Transaction | null> {
    return this.#ask({ method: 'eth_getTransactionByHash', params: [txHash] }, (result) =>
      parseTransaction(valueOf(result, 'eth_getTransactionByHash'), txHash),
    );
  }

  isContract(address: Hex): Promise<boolean> {
    return this.#ask(askForCode(address), hasCode);
  }

  /** Wei at the latest block. */
  readBalance(address: Hex): Promise<bigint> {
    return this.#ask(askForNativeBalance(address), (result) =>
      parseBigQuantity(valueOf(result, 'eth_getBalance'), 'balance'),
    );
  }

  /** In milliseconds since 1970. */
  readBlockTimeMs(blockNumber: number): Promise<number> {
    const params = [`0x${blockNumber.toString(16)}`, false];
    return this.#ask({ method: 'eth_getBlockByNumber', params }, (result) => {
      const { timestamp } = parseObject(valueOf(result, 'eth_getBlockByNumber'), 'block');
      return parseQuantity(timestamp, 'block time') * 1000;
    });
  }

  readHeadNumber(): Promise<number> {
    return this.#ask({ method: 'eth_blockNumber', params: [] }, (result) =>
      parseQuantity(valueOf(result, 'eth_blockNumber'), 'block number'),
    );
  }

  onApplicationShutdown(): Promise<void> {
    return this.#chain.close();
  }

  #ask<T>(call: RpcCall, read: (result: RpcResult | undefined) => T): Promise<T> {
    const deadlineMs = nowMs() + this.#withinMs;
    return this.#chain.batcher.ask({ calls: [call], read: ([result]) => read(result), deadlineMs });
  }
}

const nowMs = (): number => performance.now();
