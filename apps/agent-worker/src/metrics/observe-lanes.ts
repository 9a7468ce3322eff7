import type { WalletDirectory } from '@tollgate/agent-jobs';
import { keepFresh, observeGauge, observeSamples, type Sample } from '@tollgate/common';
import { UnreadableJobError, type JobRecord, type Journal, type LaneStatus } from '@tollgate/journal';
import { WAITING_CODES } from '@tollgate/protocol';
import type { Registry } from 'prom-client';

import type { WorkerWallet } from '../wallets/worker-wallet.js';

export interface ObservedLanes {
  journal: Journal;
  /** The wallets of all workers. */
  directory: Pick<WalletDirectory, 'list'>;
  /** Those of this process. */
  wallets: readonly Pick<WorkerWallet, 'name' | 'lane'>[];
  isHolding: (walletName: string) => boolean;
  /** BOOK_OUTBOX_LIMIT; null: nothing is reported to a book. */
  bookLimit: number | null;
  onTrouble: (wallet: string, error: unknown) => void;
}

/** All gauges of one scrape share one read. */
const FRESH_MS = 1_000;
/** A lane may have ten thousand open jobs: their states are read this rarely, and only for this many of the oldest. */
const JOBS_FRESH_MS = 10_000;
const JOBS_EXAMINED = 1_000;

/**
 * The status of the lanes; read when scraped. Every process reports the lanes of its wallets and of all adopted ones, so
 * that an alert fires when the only worker of a wallet is gone. It reports the jobs only of the lanes it holds.
 */
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
  ofLane(
    'tollgate_agent_lane_paused',
    '1: the lane is paused, and starts no new transaction.',
    ({ paused }) => paused !== null,
  );
  ofLane(
    'tollgate_agent_lane_frozen',
    '1: the lane is frozen, because Redis lost data or restarted and must be compared with the chain.',
    ({ frozen }) => frozen !== null,
  );
  ofLane('tollgate_agent_lane_held', '1: this process holds the lane of the wallet.', (_, wallet) =>
    lanes.isHolding(wallet),
  );
  observeJobs(registry, lanes);
  if (lanes.bookLimit !== null) observeOutbox(registry, lanes, lanes.bookLimit);
}

/** Under the names of the verifiers' part, so that one alert watches all. */
function observeOutbox(registry: Registry, { journal, wallets }: ObservedLanes, limit: number): void {
  observeGauge(
    registry,
    'tollgate_book_outbox_events',
    'Transactions that the bookkeeper has not acknowledged: of the wallet that has the most.',
    () => journal.readBookLength(wallets.map(({ lane }) => lane)),
  );
  observeGauge(
    registry,
    'tollgate_book_outbox_limit_events',
    'BOOK_OUTBOX_LIMIT: at this many, new jobs of a wallet get 503.',
    () => limit,
  );
}

type OpenJob = JobRecord | UnreadableJobError;
type JobLabel = 'wallet' | 'state' | 'operation';

function observeJobs(registry: Registry, lanes: ObservedLanes): void {
  const readJobs = keepFresh(JOBS_FRESH_MS, () => readOldestJobs(lanes));
  const jobs = {
    name: 'tollgate_agent_open_jobs',
    help:
      `Open jobs by state and operation; only the ${JOBS_EXAMINED} oldest of each wallet are counted. A job that ` +
      'cannot be read has the state unreadable and no operation.',
    labelNames: ['wallet', 'state', 'operation'] as const,
  };
  observeSamples(registry, jobs, async () =>
    (await readJobs()).flatMap(([wallet, open]) => countByState(wallet, open)),
  );
  const waiting = {
    name: 'tollgate_agent_open_jobs_waiting',
    help: `Open jobs that stand still, by what they wait for; only the ${JOBS_EXAMINED} oldest of each wallet are counted.`,
    labelNames: ['wallet', 'code'] as const,
  };
  observeSamples(registry, waiting, async () =>
    (await readJobs()).flatMap(([wallet, open]) => countByCode(wallet, open)),
  );
  const oldest = {
    name: 'tollgate_agent_oldest_open_job_seconds',
    help: 'Age of the oldest open job of a wallet that does not wait for an approval.',
    labelNames: ['wallet'] as const,
  };
  observeSamples(registry, oldest, async () =>
    (await readJobs()).map(([wallet, open]) => {
      // An approval may take days: a job that waits for one must not hide another that is stuck.
      const first = open.find(
        (job): job is JobRecord => !(job instanceof UnreadableJobError) && job.state !== 'AWAITING_APPROVAL',
      );
      return { labels: { wallet }, value: first ? Math.max(0, Date.now() - first.submittedAtMs) / 1000 : 0 };
    }),
  );
}

function countByState(wallet: string, jobs: readonly OpenJob[]): Sample<JobLabel>[] {
  const counts = new Map<string, { labels: Record<JobLabel, string>; value: number }>();
  for (const job of jobs) {
    const { state, operation } = job instanceof UnreadableJobError ? { state: 'unreadable', operation: '' } : job;
    const sample = counts.get(`${state} ${operation}`) ?? { labels: { wallet, state, operation }, value: 0 };
    sample.value++;
    counts.set(`${state} ${operation}`, sample);
  }
  return [...counts.values()];
}

/** Every code, so that an alert sees the number fall to zero. */
function countByCode(wallet: string, jobs: readonly OpenJob[]): Sample<'wallet' | 'code'>[] {
  const codes = jobs.map((job) => (job instanceof UnreadableJobError ? undefined : job.waiting?.code));
  return WAITING_CODES.map((code) => ({
    labels: { wallet, code },
    value: codes.filter((one) => one === code).length,
  }));
}

async function readLanes({
  journal,
  directory,
  wallets,
}: ObservedLanes): Promise<[wallet: string, status: LaneStatus][]> {
  const own = new Set(wallets.map(({ name }) => name));
  const others = (await directory.list()).filter(({ name }) => !own.has(name));
  const statuses = await Promise.all(
    [...wallets, ...others].map(async ({ name, lane }): Promise<[string, LaneStatus]> => [
      name,
      await journal.readLane(lane),
    ]),
  );
  return statuses.filter(([name, { nextNonce }]) => own.has(name) || nextNonce !== null);
}

function readOldestJobs({
  journal,
  wallets,
  isHolding,
  onTrouble,
}: ObservedLanes): Promise<[wallet: string, open: OpenJob[]][]> {
  const held = wallets.filter(({ name }) => isHolding(name));
  return Promise.all(
    held.map(async ({ name, lane }): Promise<[string, OpenJob[]]> => {
      const ids = await journal.readOpenJobs(lane);
      const jobs = await journal.readEachJob(ids.slice(0, JOBS_EXAMINED));
      for (const job of jobs) if (job instanceof UnreadableJobError) onTrouble(name, job);
      return [name, jobs.filter((job) => job !== null)];
    }),
  );
}
