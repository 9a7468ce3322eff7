import { startBenchChain } from '../bench-chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { measureRoundTrip, startDelayProxy, startReplayNode } from '../replay-node.js';
import { withCleanup } from '../with-cleanup.js';
import { compareWithPeers, FLOOR, measurePaidCases, TOLLGATE, type PaidCase } from './paid-cases.js';

const CASES: PaidCase[] = [
  { inFlight: 1, kind: 'bare', requests: 300, peerRequests: 12 },
  { inFlight: 32, kind: 'bare', requests: 1_500, peerRequests: 64 },
  { inFlight: 64, kind: 'bare', requests: 2_000, peerRequests: 0 },
  { inFlight: 256, kind: 'bare', requests: 3_000, peerRequests: 0 },
  { inFlight: 64, kind: 'locked', requests: 2_000, peerRequests: 0 },
];
const QUICK_CASES: PaidCase[] = [{ inFlight: 64, kind: 'bare', requests: 1_000, peerRequests: 64 }];

const DELAY_MS = 50;
const DISTANT_CASES: PaidCase[] = [
  { inFlight: 1, kind: 'bare', requests: 30, peerRequests: 4 },
  { inFlight: 32, kind: 'bare', requests: 1_000, peerRequests: 64 },
  { inFlight: 256, kind: 'bare', requests: 3_000, peerRequests: 0 },
];
const QUICK_DISTANT_CASES: PaidCase[] = [{ inFlight: 64, kind: 'bare', requests: 500, peerRequests: 32 }];

/** Paid answers with a local RPC server. */
export function runPaidLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const { url: node } = keep(await startReplayNode(chain));
    const place = { chain, node, rpcUrl: node, chainUrl: chain.rpcUrl };
    const rows = await measurePaidCases(options.quick ? QUICK_CASES : CASES, place, options, keep);
    const title = 'paid answers, each for a payment of its own';
    return { lane: 'paid', title, baseline: FLOOR, rows, notes: compareWithPeers(rows) };
  });
}

/** Paid answers with 50 ms of latency to the chain's RPC server. */
export function runDistantLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const { url: node } = keep(await startReplayNode(chain));
    const { url: rpcUrl } = keep(await startDelayProxy(node, DELAY_MS));
    const { url: chainUrl } = keep(await startDelayProxy(chain.rpcUrl, DELAY_MS));
    const cases = options.quick ? QUICK_DISTANT_CASES : DISTANT_CASES;
    const rows = await measurePaidCases(cases, { chain, node, rpcUrl, chainUrl }, options, keep);
    const lone = rows.find(({ subject, case: name }) => subject === TOLLGATE && name === '1 in flight');
    const title = `paid answers, the chain's RPC ${DELAY_MS} ms away`;
    const notes = [await measureRoundTrip(rpcUrl, lone), ...compareWithPeers(rows)];
    return { lane: 'distant', title, baseline: FLOOR, rows, notes };
  });
}
