import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startBenchChain } from '../bench-chain.js';
import { startFloor } from '../floor.js';
import type { LaneOptions, LaneResult, LaneRow } from '../lane.js';
import { sendPayments, type PaidTarget } from '../load/send-payments.js';
import { makePayments, type PaymentKind } from '../payments.js';
import { compareWithPeers, startPeers } from '../peers.js';
import { measureRoundTrip, startDelayProxy, startReplayNode } from '../replay-node.js';
import { formatNumber } from '../report.js';
import { runRounds, type Case, type Subject } from '../run-rounds.js';
import { startTollgate } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const FLOOR = 'one process';
const TOLLGATE = 'tollgate';

interface PaidCase {
  inFlight: number;
  kind: PaymentKind;
  /** Requests a round to the floor and to Tollgate. */
  requests: number;
  /** Requests a round to each published server; 0 leaves them out. */
  peerRequests: number;
}

interface Places {
  chain: Devnet;
  /** The replay node itself. */
  node: string;
  /** The RPC server of floor and Tollgate: the replay node, or the proxy in front of it. */
  rpcUrl: string;
  /** The RPC server of the published servers: the chain, or the proxy in front of it. */
  chainUrl: string;
}

interface Target extends PaidTarget {
  /** Ready payments by case; each is sent once. */
  payments: Map<PaidCase, string[]>;
}

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
    return { lane: 'paid', title, baseline: FLOOR, rows, notes: compareWithPeers(rows, TOLLGATE) };
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
    const notes = [await measureRoundTrip(rpcUrl, lone), ...compareWithPeers(rows, TOLLGATE)];
    return { lane: 'distant', title, baseline: FLOOR, rows, notes };
  });
}

/**
 * Measures paid answers, each for a payment of its own. Floor and Tollgate take the same payments, since each keeps a
 * ledger of its own; the published servers take authorizations signed beforehand, and settle them on the same chain.
 */
async function measurePaidCases(
  cases: PaidCase[],
  { chain, node, rpcUrl, chainUrl }: Places,
  { rounds, peers, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  progress('starting the servers');
  const tollgate = keep(await startTollgate({ chain, rpcUrl }));
  const floor = await startFloor({ chain, rpcUrl }, keep);
  const ours = [
    { name: FLOOR, urls: [floor.url], roles: { server: [floor.pid], redis: [floor.redisPid] } },
    { name: TOLLGATE, urls: [tollgate.url], roles: tollgate.roles },
  ].map((target) => ({ ...target, header: 'x-payment', payments: new Map<PaidCase, string[]>() }));
  for (const paidCase of cases) {
    const count = paidCase.requests * rounds;
    progress(`mining ${formatNumber(count)} ${paidCase.kind} payments`);
    const payments = await makePayments(chain, { kind: paidCase.kind, count, url: tollgate.url, node });
    for (const target of ours) target.payments.set(paidCase, [...payments]);
  }
  const others = peers ? await startPeerTargets(cases, { chain, rpcUrl: chainUrl, rounds, progress }, keep) : [];

  progress('warming up');
  const warmUp = await makePayments(chain, { kind: 'bare', count: 3000, url: tollgate.url, node });
  for (const target of ours) await sendPayments(target, warmUp, 64);
  const measured = cases.map((paidCase): Case => ({
    name: caseName(paidCase),
    baseline: FLOOR,
    subjects: [...ours, ...(paidCase.peerRequests > 0 ? others : [])].map((target): Subject => {
      const size = ours.includes(target) ? paidCase.requests : paidCase.peerRequests;
      const measure = () =>
        sendPayments(target, target.payments.get(paidCase)?.splice(0, size) ?? [], paidCase.inFlight);
      return { name: target.name, measure };
    }),
  }));
  return runRounds(measured, rounds, progress);
}

function caseName({ inFlight, kind }: PaidCase): string {
  return `${inFlight} in flight${kind === 'locked' ? ', locked' : ''}`;
}

async function startPeerTargets(
  cases: PaidCase[],
  { chain, rpcUrl, rounds, progress }: { chain: Devnet; rpcUrl: string } & Pick<LaneOptions, 'rounds' | 'progress'>,
  keep: KeepUntilEnd,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const peer of await startPeers(chain, keep, progress, rpcUrl)) {
    const { name, url, roles } = peer;
    const target: Target = { name, urls: [url], roles, header: peer.paymentHeader, payments: new Map() };
    for (const paidCase of cases.filter(({ peerRequests }) => peerRequests > 0)) {
      progress(`signing ${paidCase.peerRequests * rounds} payments for ${name}`);
      target.payments.set(paidCase, await peer.signPayments(paidCase.peerRequests * rounds));
    }
    // The first settlements set up connections and caches.
    await sendPayments(target, await peer.signPayments(8), 1);
    targets.push(target);
  }
  return targets;
}
