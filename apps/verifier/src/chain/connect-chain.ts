import { BlockTimes } from './block-times.js';
import type { ChainObserver } from './chain-observer.js';
import { ChainReader } from './chain-reader.js';
import { RefusedSignatures } from './refused-signatures.js';
import { RpcBatcher } from './rpc-batcher.js';
import { RpcEndpoint } from './rpc-endpoint.js';
import { RpcEndpoints } from './rpc-endpoints.js';
import { SearchMemory } from './search-memory.js';

export interface ChainOptions {
  /** In order of preference. */
  urls: readonly string[];
  chainId: number;
  timeoutMs: number;
  batchSize: number;
  batchesInFlight: number;
  maxResponseBytes: number;
  /** Of one transaction and its receipt: a longer one is no payment. */
  maxReceiptBytes: number;
  /** How many blocks one search for logs spans. */
  logRangeBlocks: number;
  observer: ChainObserver;
  /** The clock of every deadline handed in. */
  nowMs: () => number;
}

export interface ConnectedChain {
  reader: ChainReader;
  /** For questions that are not the reader's. */
  batcher: RpcBatcher;
  close(): Promise<void>;
}

/** Puts the parts of this folder together. Nothing is sent before the first question. */
export function connectChain(options: ChainOptions): ConnectedChain {
  const { chainId, batchesInFlight, observer, nowMs } = options;
  const endpoints = new RpcEndpoints(
    options.urls.map((url) => new RpcEndpoint({ url, connections: batchesInFlight }, chainId)),
    options.timeoutMs,
    observer,
    nowMs,
  );
  const batcher = new RpcBatcher({ ...options, endpoints });
  const blockTimes = new BlockTimes(batcher, nowMs);
  return {
    reader: new ChainReader(
      batcher,
      blockTimes,
      options.logRangeBlocks,
      new SearchMemory(nowMs),
      new RefusedSignatures(nowMs),
    ),
    batcher,
    close: async () => {
      blockTimes.close();
      batcher.close();
      await endpoints.close();
    },
  };
}
