import { DELAY_MS, measureRoundTrip, startBenchChain, startDelayProxy, startReplayNode } from '../chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { measurePaidCases, type PaidCase } from '../paid-cases.js';
import { compareWithPeers, startPeers } from '../peers.js';
import { startFloor, startTollgate } from '../tollgate.js';
import { withCleanup } from '../with-cleanup.js';

const CASES: PaidCase[] = [
  { name: '1 in flight', inFlight: 1, requests: 300, peerRequests: 12 },
  { name: '32 in flight', inFlight: 32, requests: 1_500, peerRequests: 64 },
  { name: '64 in flight', inFlight: 64, requests: 2_000 },
  { name: '256 in flight', inFlight: 256, requests: 3_000 },
  { name: '64 in flight, locked', inFlight: 64, requests: 2_000, isLocked: true },
];
const DISTANT_CASES: PaidCase[] = [
  { name: '1 in flight', inFlight: 1, requests: 30, peerRequests: 4 },
  { name: '32 in flight', inFlight: 32, requests: 1_000, peerRequests: 64 },
  { name: '256 in flight', inFlight: 256, requests: 3_000 },
];
const QUICK_CASES: PaidCase[] = [{ name: '64 in flight', inFlight: 64, requests: 1_000, peerRequests: 64 }];

/** Paid answers with a local RPC server. */
export const runPaidLane = (options: LaneOptions) => measurePaid(options, false);

/** Paid answers with 50 ms of latency to the chain's RPC server. */
export const runDistantLane = (options: LaneOptions) => measurePaid(options, true);

function measurePaid(options: LaneOptions, isDistant: boolean): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const place = async (url: string) => (isDistant ? keep(await startDelayProxy(url)).url : url);
    const chain = keep(await startBenchChain());
    const { url: node } = keep(await startReplayNode(chain));
    const rpcUrl = await place(node);
    const targets = [await startFloor(chain, rpcUrl, keep), await startTollgate({ chain, rpcUrl }, keep)];
    const peers = options.peers ? await startPeers(chain, keep, options.progress, await place(chain.rpcUrl)) : [];
    const cases = options.quick ? QUICK_CASES : isDistant ? DISTANT_CASES : CASES;
    const rows = await measurePaidCases(cases, { chain, node, targets, peers }, options);
    const lone = rows.find(({ subject, case: name }) => subject === 'tollgate' && name === '1 in flight');
    return {
      lane: isDistant ? 'distant' : 'paid',
      title: `paid answers, each for a payment of its own${isDistant ? `, the chain's RPC ${DELAY_MS} ms away` : ''}`,
      baseline: 'one process',
      rows,
      notes: [...(isDistant ? [await measureRoundTrip(rpcUrl, lone)] : []), ...compareWithPeers(rows)],
    };
  });
}
