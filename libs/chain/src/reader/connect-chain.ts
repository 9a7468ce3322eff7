import { RefusedSignatures } from '../contracts/contract-signature.js';
import { SearchMemory } from '../logs/search-logs.js';
import { BlockTimes } from '../receipts/block-times.js';
import { RpcBatcher } from '../rpc/rpc-batcher.js';
import { RpcEndpoint } from '../rpc/rpc-endpoint.js';
import { type ChainObserver, RpcEndpoints } from '../rpc/rpc-endpoints.js';
import { ChainReader } from './chain-reader.js';

export interface ChainOptions {
  /** In order of preference. */
  urls: readonly string[];
  chainId: number;
  timeoutMs: number;
  batchSize: number;
  batchesInFlight: number;
  maxResponseBytes: number;
  /** For one transaction and its receipt; a transaction with a longer receipt is not accepted as a payment. */
  maxReceiptBytes: number;
  /** How many blocks one log search spans. */
  logRangeBlocks: number;
  observer: ChainObserver;
  /** The clock of all deadlines. */
  nowMs: () => number;
}

export interface ConnectedChain {
  reader: ChainReader;
  /** For calls that the reader does not offer. */
  batcher: RpcBatcher;
  close(): Promise<void>;
}

/** Connects the parts of this folder. Nothing is sent before the first question. */
export function connectChain(options: ChainOptions): ConnectedChain {
  const { chainId, batchesInFlight, timeoutMs, observer, nowMs } = options;
  const limits = { connections: batchesInFlight, connectTimeoutMs: timeoutMs };
  const endpoints = new RpcEndpoints(
    options.urls.map((url) => new RpcEndpoint({ url, ...limits }, chainId)),
    timeoutMs,
    observer,
    nowMs,
  );
  const batcher = new RpcBatcher({ ...options, endpoints });
  const blockTimes = new BlockTimes(batcher, nowMs);
  return {
    reader: new ChainReader(batcher, blockTimes, options.logRangeBlocks, new SearchMemory(), new RefusedSignatures()),
    batcher,
    close: async () => {
      blockTimes.close();
      batcher.close();
      await endpoints.close();
    },
  };
}
