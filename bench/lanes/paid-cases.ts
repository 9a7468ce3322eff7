import type { Devnet } from '../../devnet/chain.js';
import { startFloor } from '../floor.js';
import type { LaneOptions, LaneRow } from '../lane.js';
import { encodeRequest, sendEach } from '../load/send-each.js';
import { makePayments, type PaymentKind } from '../payments.js';
import { installPeers, PEER_SERVERS, startFacilitators, startPeer } from '../peers.js';
import { watchProcessors, type Roles } from '../process-usage.js';
import { formatNumber } from '../report.js';
import { runRounds, type Case, type Sample, type Subject } from '../run-rounds.js';
import { startTollgate } from '../tollgate.js';
import type { KeepUntilEnd } from '../with-cleanup.js';

export const FLOOR = 'one process';
export const TOLLGATE = 'tollgate';

export interface PaidCase {
  inFlight: number;
  kind: PaymentKind;
  /** Requests a round to the floor and to Tollgate. */
  requests: number;
  /** Requests a round to each published server; 0 leaves them out. */
  peerRequests: number;
}

export interface Places {
  chain: Devnet;
  /** The replay node itself. */
  node: string;
  /** The RPC server of floor and Tollgate: the replay node, or the proxy in front of it. */
  rpcUrl: string;
  /** The RPC server of the published servers: the chain, or the proxy in front of it. */
  chainUrl: string;
}

interface Target {
  name: string;
  url: string;
  roles: Roles;
  header: string;
  /** Ready payments by case; each is sent once. */
  payments: Map<PaidCase, string[]>;
}

/**
 * Measures paid answers, each for a payment of its own. Floor and Tollgate take the same payments, since each keeps a
 * ledger of its own; the published servers take authorizations signed beforehand, and settle them on the same chain.
 */
export async function measurePaidCases(
  cases: PaidCase[],
  { chain, node, rpcUrl, chainUrl }: Places,
  { rounds, peers, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  progress('starting the servers');
  const tollgate = keep(await startTollgate({ chain, rpcUrl }));
  const floor = keep(await startFloor({ chain, rpcUrl }));
  const ours: Target[] = [
    { name: FLOOR, url: floor.url, roles: { server: [floor.pid], redis: [floor.redisPid] }, ...hashTarget() },
    { name: TOLLGATE, url: tollgate.url, roles: tollgate.roles, ...hashTarget() },
  ];
  for (const paidCase of cases) {
    const count = paidCase.requests * rounds;
    progress(`mining ${formatNumber(count)} ${paidCase.kind} payments`);
    const payments = await makePayments(chain, { kind: paidCase.kind, count, url: tollgate.url, node });
    for (const target of ours) target.payments.set(paidCase, [...payments]);
  }
  const others = peers ? await startPeerTargets(cases, { chain, rpcUrl: chainUrl, rounds, progress }, keep) : [];

  progress('warming up');
  const warmUp = await makePayments(chain, { kind: 'bare', count: 3000, url: tollgate.url, node });
  for (const target of ours) await send(target, warmUp, 64);
  const measured = cases.map((paidCase): Case => ({
    name: caseName(paidCase),
    baseline: FLOOR,
    subjects: [...ours, ...(paidCase.peerRequests > 0 ? others : [])].map((target): Subject => {
      const size = ours.includes(target) ? paidCase.requests : paidCase.peerRequests;
      const measure = () => send(target, target.payments.get(paidCase)?.splice(0, size) ?? [], paidCase.inFlight);
      return { name: target.name, measure };
    }),
  }));
  return runRounds(measured, rounds, progress);
}

/** Compares Tollgate with the fastest published server, case by case. */
export function compareWithPeers(rows: LaneRow[]): string[] {
  const names = [...new Set(rows.map((row) => row.case))];
  return names.flatMap((name) => {
    const inCase = rows.filter((row) => row.case === name);
    const own = inCase.find(({ subject }) => subject === TOLLGATE)?.perSecond;
    const [best] = inCase
      .filter(({ subject }) => subject !== TOLLGATE && subject !== FLOOR)
      .sort((a, b) => (b.perSecond ?? 0) - (a.perSecond ?? 0));
    if (own === undefined || !best?.perSecond) return [];
    return [`${name}: ${formatNumber(own / best.perSecond)} times the fastest published server, ${best.subject}.`];
  });
}

function caseName({ inFlight, kind }: PaidCase): string {
  return `${inFlight} in flight${kind === 'locked' ? ', locked' : ''}`;
}

function hashTarget(): Pick<Target, 'header' | 'payments'> {
  return { header: 'x-payment', payments: new Map() };
}

async function send({ name, url, roles, header }: Target, payments: string[], inFlight: number): Promise<Sample> {
  const requests = payments.map((payment) => encodeRequest(url, { [header]: payment }));
  const readCores = watchProcessors(roles);
  const { firstFailure, ...sample } = await sendEach({ urls: [url], requests, inFlight, expectedStatus: 200 });
  if (sample.failed === requests.length) throw new Error(`${name} answered no request with 200:\n${firstFailure}`);
  return { ...sample, detail: readCores() };
}

async function startPeerTargets(
  cases: PaidCase[],
  { chain, rpcUrl, rounds, progress }: { chain: Devnet; rpcUrl: string } & Pick<LaneOptions, 'rounds' | 'progress'>,
  keep: KeepUntilEnd,
): Promise<Target[]> {
  await installPeers(progress);
  const facilitators = await startFacilitators(chain, rpcUrl);
  keep(facilitators[1]);
  keep(facilitators[2]);
  const targets: Target[] = [];
  for (const name of PEER_SERVERS) {
    const peer = await startPeer(name, chain, facilitators);
    keep(peer.server);
    const roles = { server: [peer.server.pid], facilitator: [peer.facilitator.pid] };
    const url = `${peer.server.url}/api/weather`;
    const target: Target = { name, url, roles, header: peer.paymentHeader, payments: new Map() };
    for (const paidCase of cases.filter(({ peerRequests }) => peerRequests > 0)) {
      progress(`signing ${paidCase.peerRequests * rounds} payments for ${name}`);
      target.payments.set(paidCase, await peer.signPayments(paidCase.peerRequests * rounds));
    }
    // The first settlements set up connections and caches.
    await send(target, await peer.signPayments(8), 1);
    targets.push(target);
  }
  return targets;
}
