import type { Devnet } from '../tools/devnet/chain/chain.js';
import { makePayments } from './chain.js';
import type { LaneOptions, LaneRow } from './lane.js';
import { sendPayments, type PaidTarget } from './load.js';
import type { Peer } from './peers.js';
import { formatNumber } from './report.js';
import { runRounds, type Case } from './run-rounds.js';

export interface PaidCase {
  name: string;
  inFlight: number;
  /** Requests a round to each target. */
  requests: number;
  /** Requests a round to each published server; none by default. */
  peerRequests?: number;
  /** The payments carry the hash locks of challenges of the last target. */
  isLocked?: boolean;
}

interface PaidServers {
  chain: Devnet;
  /** The replay node. */
  node: string;
  /** Each has a ledger of its own, so all take the same payments. The first is what the others are compared with. */
  targets: PaidTarget[];
  peers?: Peer[];
}

const WARM_UP = 2_000;
const WARM_UP_IN_FLIGHT = 64;
const PEER_WARM_UP = 8;

/**
 * Measures paid answers, each for a payment of its own: mined before any clock runs, or for the published servers an
 * authorization that was signed before.
 */
export async function measurePaidCases(
  cases: readonly PaidCase[],
  { chain, node, targets, peers = [] }: PaidServers,
  { rounds, progress }: LaneOptions,
): Promise<LaneRow[]> {
  progress('warming up');
  const warmUp = await makePayments(chain, { count: WARM_UP, node });
  for (const target of targets) await sendPayments(target, warmUp, WARM_UP_IN_FLIGHT);
  for (const peer of peers) await sendPayments(peer, await peer.signPayments(PEER_WARM_UP), 1);
  const measured: Case[] = [];
  for (const { name, inFlight, requests, peerRequests, isLocked } of cases) {
    const count = requests * rounds;
    progress(`mining ${formatNumber(count)} payments`);
    const lockedFor = isLocked ? targets.at(-1)?.url : undefined;
    const payments = await makePayments(chain, { count, node, lockedFor });
    const subjects = targets.map((target) => {
      let turn = 0;
      const takeNext = () => payments.slice(turn * requests, ++turn * requests);
      return { name: target.name, measure: () => sendPayments(target, takeNext(), inFlight) };
    });
    const others = (peerRequests === undefined ? [] : peers).map((peer) => ({
      name: peer.name,
      measure: async () => sendPayments(peer, await peer.signPayments(peerRequests ?? 0), inFlight),
    }));
    measured.push({ name, baseline: targets[0]?.name ?? '', subjects: [...subjects, ...others] });
  }
  return runRounds(measured, rounds, progress);
}
