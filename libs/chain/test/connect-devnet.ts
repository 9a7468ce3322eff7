import { connectChain, type ChainOptions, type ConnectedChain } from '../src/reader/connect-chain.js';

/** Reads the devnet behind this server. */
export function connectDevnet(url: string, changes: Partial<ChainOptions> = {}): ConnectedChain {
  return connectChain({
    urls: [url],
    chainId: 1328,
    timeoutMs: 30_000,
    batchSize: 50,
    batchesInFlight: 8,
    maxResponseBytes: 16_777_216,
    maxReceiptBytes: 1_048_576,
    logRangeBlocks: 10,
    observer: { batchEnded: () => undefined, queueChanged: () => undefined },
    nowMs: () => Date.now(),
    ...changes,
  });
}
