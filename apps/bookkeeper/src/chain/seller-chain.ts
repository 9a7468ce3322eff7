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
import type { PaymentChain } from '@tollgate/config';
import type { Hex } from '@tollgate/protocol';

const CONNECTIONS = 4;
const BATCH_SIZE = 100;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Logs are searched by the reconciler alone. */
const NO_LOGS = 1;

/** A chain on which the seller is paid. Every read throws ChainUnavailableError when no RPC server gives a usable answer. */
export class SellerChain {
  readonly chainId: number;
  readonly #connected: ConnectedChain;
  readonly #withinMs: number;
  /** By token, once the chain has said them. */
  readonly #decimals = new Map<Hex, bigint>();

  constructor(
    readonly chain: PaymentChain,
    timeoutMs: number,
  ) {
    this.chainId = chain.id;
    this.#withinMs = timeoutMs * chain.rpc.length;
    this.#connected = connectChain({
      urls: chain.rpc,
      chainId: chain.id,
      timeoutMs,
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
    const { mined } = await this.#connected.reader.readTransaction(txHash, this.#deadlineMs());
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

  /** Base units of a token at the latest block; null where it is no token. */
  readTokenBalance(asset: Hex, address: Hex): Promise<bigint | null> {
    return this.#ask(askForBalance(asset, address), readWord);
  }

  /** In milliseconds since 1970. */
  readBlockTimeMs(blockNumber: number): Promise<number> {
    const params = [`0x${blockNumber.toString(16)}`, false];
    return this.#ask({ method: 'eth_getBlockByNumber', params }, (result) => {
      const { timestamp } = parseObject(valueOf(result, 'eth_getBlockByNumber'), 'block');
      return parseQuantity(timestamp, 'block time') * 1000;
    });
  }

  /** Of a token; null: it does not say. */
  async readDecimals(asset: Hex): Promise<bigint | null> {
    const known = this.#decimals.get(asset);
    if (known !== undefined) return known;
    const decimals = await this.#connected.reader.readDecimals(asset, this.#deadlineMs());
    if (decimals !== null) this.#decimals.set(asset, decimals);
    return decimals;
  }

  readHeadNumber(): Promise<number> {
    return this.#connected.reader.readHead(this.#deadlineMs());
  }

  close(): Promise<void> {
    return this.#connected.close();
  }

  #ask<T>(call: RpcCall, read: (result: RpcResult | undefined) => T): Promise<T> {
    return this.#connected.batcher.ask({
      calls: [call],
      read: ([result]) => read(result),
      deadlineMs: this.#deadlineMs(),
    });
  }

  #deadlineMs(): number {
    return nowMs() + this.#withinMs;
  }
}

const nowMs = (): number => performance.now();
