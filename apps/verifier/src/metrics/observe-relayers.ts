import { type RpcBatcher, valueOf, askForNativeBalance, parseBigQuantity } from '@tollgate/chain';
import { keepFresh, observeGauge, observeSamples, type Sample } from '@tollgate/common';
import { createLaneId, type Journal, type LaneStatus } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { Relayers, SettlementParts } from '@tollgate/settlement';
import type { Registry } from 'prom-client';

interface ObservedSettlement {
  relayers: Relayers;
  journal: Journal;
  parts: Pick<SettlementParts, 'flights'>;
}

export interface RelayerChain {
  chainId: number;
  batcher: RpcBatcher;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** Gauges read in the same scrape share one reading. */
const FRESH_MS = 1_000;
const BALANCE_FRESH_MS = 60_000;
const ANSWERS_WITHIN_MS = 5_000;
const WEI_PER_COIN = 1e18;
const labelNames = ['relayer'] as const;

/** The state of the relayers, read at each scrape. Every process with a relayer key reports all relayers. */
export function observeRelayers(registry: Registry, settlement: ObservedSettlement, chain: RelayerChain): void {
  const { relayers, parts } = settlement;
  const { addresses } = relayers;
  observeGauge(
    registry,
    'tollgate_settlements_under_way',
    'Payments whose settlement is in progress in this process.',
    () => parts.flights.size,
  );
  const readLanes = keepFresh(FRESH_MS, () => readStatuses(settlement, chain));
  const ofLane = (name: string, help: string, pick: (status: LaneStatus) => number): void =>
    observeSamples(registry, { name, help, labelNames }, async () =>
      (await readLanes()).map(([relayer, status]) => ({ labels: { relayer }, value: pick(status) })),
    );
  ofLane(
    'tollgate_relayer_open_jobs',
    'Settlements that were accepted for a relayer and have not ended.',
    ({ openJobs }) => openJobs,
  );
  ofLane(
    'tollgate_relayer_in_flight',
    'Transactions of a relayer that are not mined yet.',
    ({ unminedSteps }) => unminedSteps,
  );
  const held = { name: 'tollgate_relayer_held', help: '1: this process works on the relayer.', labelNames };
  observeSamples(registry, held, () =>
    Promise.resolve(addresses.map((relayer) => ({ labels: { relayer }, value: Number(relayers.isHolding(relayer)) }))),
  );
  const readWei = keepFresh(BALANCE_FRESH_MS, () => readBalances(addresses, chain));
  const help = "The relayer's native coin, in whole units; about a minute old.";
  observeSamples(registry, { name: 'tollgate_relayer_balance', help, labelNames }, readWei);
}

/** Includes relayers whose keys are gone: their jobs still wait, and no other metric would show it. */
async function readStatuses(
  { relayers, journal }: ObservedSettlement,
  { chainId }: RelayerChain,
): Promise<[relayer: Hex, LaneStatus][]> {
  const adopted = (await journal.readLanes()).filter((lane) => lane.chainId === chainId);
  const addresses = new Set([...relayers.addresses, ...adopted.map(({ address }) => address)]);
  return Promise.all(
    [...addresses].map(async (address): Promise<[Hex, LaneStatus]> => [
      address,
      await journal.readLane(createLaneId(chainId, address)),
    ]),
  );
}

function readBalances(addresses: readonly Hex[], { batcher, nowMs }: RelayerChain): Promise<Sample<'relayer'>[]> {
  return batcher.ask({
    calls: addresses.map(askForNativeBalance),
    deadlineMs: nowMs() + ANSWERS_WITHIN_MS,
    read: (results) =>
      addresses.map((relayer, index) => {
        const wei = parseBigQuantity(valueOf(results[index], 'eth_getBalance'), 'balance');
        // A float is exact enough for an alert.
        return { labels: { relayer }, value: Number(wei) / WEI_PER_COIN };
      }),
  });
}
