import { startBenchChain } from '../bench-chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { measureRoundTrip, startDelayProxy, startReplayNode } from '../replay-node.js';
import { withCleanup } from '../with-cleanup.js';
import { compareWithPeers, FLOOR, measurePaidCases, TOLLGATE, type PaidCase } from './paid-cases.js';

const DELAY_MS = 50;

const CASES: PaidCase[] = [
  { inFlight: 1, kind: 'bare', requests: 30, peerRequests: 4 },
  { inFlight: 32, kind: 'bare', requests: 1_000, peerRequests: 64 },
  { inFlight: 256, kind: 'bare', requests: 3_000, peerRequests: 0 },
];
const QUICK_CASES: PaidCase[] = [{ inFlight: 64, kind: 'bare', requests: 500, peerRequests: 32 }];

/** Paid answers with 50 ms of latency to the chain's RPC server. */
export function runDistantLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const node = keep(await startReplayNode(chain));
    const proxy = keep(await startDelayProxy(node.url, DELAY_MS));
    const chainProxy = keep(await startDelayProxy(chain.rpcUrl, DELAY_MS));
    const cases = options.quick ? QUICK_CASES : CASES;
    const rows = await measurePaidCases(
      cases,
      { chain, node: node.url, rpcUrl: proxy.url, chainUrl: chainProxy.url },
      options,
      keep,
    );
    const lone = rows.find(({ subject, case: name }) => subject === TOLLGATE && name === '1 in flight');
    return {
      lane: 'distant',
      title: `paid answers, the chain's RPC ${DELAY_MS} ms away`,
      baseline: FLOOR,
      rows,
      notes: [await measureRoundTrip(proxy.url, lone), ...compareWithPeers(rows)],
    };
  });
}
