import { keepFresh, observeSamples, type Sample } from '@tollgate/common';
import type { JobRecord, Journal, LaneStatus } from '@tollgate/transactions';
import type { Registry } from 'prom-client';

import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface ObservedLanes {
  journal: Journal;
  wallets: readonly WorkerWallet[];
  isHolding: (walletName: string) => boolean;
}

/** The gauges of one scrape share what was read. */
const FRESH_MS = 1_000;
/** All open jobs of a lane may be ten thousand: their states are looked at so seldom, and of the oldest so many. */
const JOBS_FRESH_MS = 10_000;
const JOBS_EXAMINED = 1_000;

/** Where the lanes stand; read when scraped. Every process tells it of all its wallets, the jobs only of those it holds. */
export function observeLanes(registry: Registry, lanes: ObservedLanes): void {
  const readStatuses = keepFresh(FRESH_MS, () => readLanes(lanes));
  const ofLane = (name: string, help: string, pick: (status: LaneStatus, wallet: string) => number | boolean): void =>
    observeSamples(registry, { name, help, labelNames: ['wallet'] }, async () =>
      (await readStatuses()).map(([wallet, status]) => ({ labels: { wallet }, value: Number(pick(status, wallet)) })),
    );
  ofLane(
    'tollgate_agent_lane_open_jobs',
    'Jobs of a wallet that are neither ended nor parked.',
    ({ openJobs }) => openJobs,
  );
  ofLane(
    'tollgate_agent_lane_in_flight',
    'Transactions of a wallet that are not mined.',
    ({ unminedSteps }) => unminedSteps,
  );
  ofLane('tollgate_agent_lane_adopted', '1: the wallet is adopted.', ({ nextNonce }) => nextNonce !== null);
  ofLane('tollgate_agent_lane_paused', '1: no new transaction begins.', ({ paused }) => paused !== null);
  ofLane(
    'tollgate_agent_lane_frozen',
    '1: Redis lost something, and it waits for the chain.',
    ({ frozen }) => frozen !== null,
  );
  ofLane('tollgate_agent_lane_held', '1: this process works on the wallet.', (_, wallet) => lanes.isHolding(wallet));
  observeJobs(registry, lanes);
}

type JobLabel = 'wallet' | 'state' | 'operation';

function observeJobs(registry: Registry, lanes: ObservedLanes): void {
  const readJobs = keepFresh(JOBS_FRESH_MS, () => readOldestJobs(lanes));
  const jobs = {
    name: 'tollgate_agent_open_jobs',
    help: `Open jobs by state and operation; of each wallet the ${JOBS_EXAMINED} oldest are looked at.`,
    labelNames: ['wallet', 'state', 'operation'] as const,
  };
  observeSamples(registry, jobs, async () =>
    (await readJobs()).flatMap(([wallet, open]) => countByState(wallet, open)),
  );
  const oldest = {
    name: 'tollgate_agent_oldest_open_job_seconds',
    help: "Age of the oldest open job of a wallet that waits for nobody's approval.",
    labelNames: ['wallet'] as const,
  };
  observeSamples(registry, oldest, async () =>
    (await readJobs()).map(([wallet, open]) => {
      // A person may take days to agree: one such job must not hide another that is stuck.
      const first = open.find(({ state }) => state !== 'AWAITING_APPROVAL');
      return { labels: { wallet }, value: first ? Math.max(0, Date.now() - first.submittedAtMs) / 1000 : 0 };
    }),
  );
}

function countByState(wallet: string, jobs: readonly JobRecord[]): Sample<JobLabel>[] {
  const counts = new Map<string, { labels: Record<JobLabel, string>; value: number }>();
  for (const { state, operation } of jobs) {
    const sample = counts.get(`${state} ${operation}`) ?? { labels: { wallet, state, operation }, value: 0 };
    sample.value++;
    counts.set(`${state} ${operation}`, sample);
  }
  return [...counts.values()];
}

function readLanes({ journal, wallets }: ObservedLanes): Promise<[wallet: string, status: LaneStatus][]> {
  return Promise.all(
    wallets.map(async ({ name, lane }): Promise<[string, LaneStatus]> => [name, await journal.readLane(lane)]),
  );
}

function readOldestJobs({
  journal,
  wallets,
  isHolding,
}: ObservedLanes): Promise<[wallet: string, open: JobRecord[]][]> {
  const held = wallets.filter(({ name }) => isHolding(name));
  return Promise.all(
    held.map(async ({ name, lane }): Promise<[string, JobRecord[]]> => {
      const ids = await journal.readOpenJobs(lane);
      const jobs = await journal.readJobs(ids.slice(0, JOBS_EXAMINED));
      return [name, jobs.filter((job) => job !== null)];
    }),
  );
}
