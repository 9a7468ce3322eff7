import { startBenchChain } from '../bench-chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { startReplayNode } from '../replay-node.js';
import { withCleanup } from '../with-cleanup.js';
import { compareWithPeers, FLOOR, measurePaidCases, type PaidCase } from './paid-cases.js';

const CASES: PaidCase[] = [
  { inFlight: 1, kind: 'bare', requests: 300, peerRequests: 12 },
  { inFlight: 32, kind: 'bare', requests: 1_500, peerRequests: 64 },
  { inFlight: 64, kind: 'bare', requests: 2_000, peerRequests: 0 },
  { inFlight: 256, kind: 'bare', requests: 3_000, peerRequests: 0 },
  { inFlight: 64, kind: 'locked', requests: 2_000, peerRequests: 0 },
];
const QUICK_CASES: PaidCase[] = [{ inFlight: 64, kind: 'bare', requests: 1_000, peerRequests: 64 }];

/** Paid answers with a local RPC server. */
export function runPaidLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const node = keep(await startReplayNode(chain));
    const cases = options.quick ? QUICK_CASES : CASES;
    const rows = await measurePaidCases(
      cases,
      { chain, node: node.url, rpcUrl: node.url, chainUrl: chain.rpcUrl },
      options,
      keep,
    );
    return {
      lane: 'paid',
      title: 'paid answers, each for a payment of its own',
      baseline: FLOOR,
      rows,
      notes: compareWithPeers(rows),
    };
  });
}
