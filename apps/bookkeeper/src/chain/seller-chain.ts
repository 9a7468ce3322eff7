import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  askForBalance,
  askForCode,
  askForNativeBalance,
  combineObservers,
  connectChain,
  hasCode,
  parseBigQuantity,
  parseObject,
  parseQuantity,
  readWord,
  valueOf,
  type ConnectedChain,
  type MinedTransaction,
  type RpcCall,
  type RpcResult,
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
  readonly #asset: Hex;
  /** Null before the chain has said it. */
  #decimals: bigint | null = null;

  constructor(@Inject(BookkeeperEnvironment) { chain, payment }: BookkeeperEnvironment) {
    this.chainId = payment.chainId;
    this.#asset = payment.assetAddress;
    this.#withinMs = chain.rpcTimeoutMs * chain.rpcUrl.length;
    this.#chain = connectChain({
      urls: chain.rpcUrl,
      chainId: payment.chainId,
      timeoutMs: chain.rpcTimeoutMs,
      batchSize: BATCH_SIZE,
      batchesInFlight: CONNECTIONS,
      observer: combineObservers(),
      nowMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      maxReceiptBytes: MAX_RESPONSE_BYTES,
      logRangeBlocks: NO_LOGS,
    });
  }

  /** Null where the chain has mined no such transaction. */
  async readTransaction(txHash: Hex): Promise<MinedTransaction | null> {
    const { mined } = await this.#chain.reader.readTransaction(txHash, this.#deadlineMs());
    return mined;
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

  /** Base units of ASSET_ADDRESS at the latest block; null where it is no token. */
  readTokenBalance(address: Hex): Promise<bigint | null> {
    return this.#ask(askForBalance(this.#asset, address), readWord);
  }

  /** In milliseconds since 1970. */
  readBlockTimeMs(blockNumber: number): Promise<number> {
    const params = [`0x${blockNumber.toString(16)}`, false];
    return this.#ask({ method: 'eth_getBlockByNumber', params }, (result) => {
      const { timestamp } = parseObject(valueOf(result, 'eth_getBlockByNumber'), 'block');
      return parseQuantity(timestamp, 'block time') * 1000;
    });
  }

  /** Of ASSET_ADDRESS; null: the token does not say. */
  async readDecimals(): Promise<bigint | null> {
    this.#decimals ??= await this.#chain.reader.readDecimals(this.#asset, this.#deadlineMs());
    return this.#decimals;
  }

  readHeadNumber(): Promise<number> {
    return this.#chain.reader.readHead(this.#deadlineMs());
  }

  onApplicationShutdown(): Promise<void> {
    return this.#chain.close();
  }

  #ask<T>(call: RpcCall, read: (result: RpcResult | undefined) => T): Promise<T> {
    return this.#chain.batcher.ask({ calls: [call], read: ([result]) => read(result), deadlineMs: this.#deadlineMs() });
  }

  #deadlineMs(): number {
    return nowMs() + this.#withinMs;
  }
}

const nowMs = (): number => performance.now();
