import {
  crashPoint,
  type LaneId,
  PlanFailure,
  type Journal,
  type LaneRunner,
  type JobFailure,
  type JobPlan,
  type JobPlanner,
  type JobRecord,
} from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import type { AttemptEnd, SentBatch, EndedJob } from './attempt.js';
import type { ReadyBatch, SettlementRecords } from './batch.js';
import type { JobWatch } from './confirm.js';
import type { ContractWallets } from './contract-wallets.js';
import type { Batcher } from './reserve.js';
import { encodeSettlementJob, stepFor, parseSettlementJob } from './settlement-job.js';
import type { SimulatedTransaction, Simulation } from './simulate.js';

interface SubmitParts {
  journal: Journal;
  jobs: JobWatch;
  records: SettlementRecords;
  wallets: ContractWallets;
}

/** One relayer of this process. */
export interface Relayer {
  lane: LaneId;
  runner: Pick<LaneRunner, 'launch' | 'wake'>;
  planner: Pick<SettlementPlanner, 'remember'>;
  batcher: Batcher;
  onTrouble: (error: unknown) => void;
}

/** A job before it is submitted. */
export interface NamedJob {
  jobId: string;
  /** Its relayer: under scheme `upto` the one that the payer signed, otherwise the one that was asked. */
  lane: LaneId;
  /** On Redis's clock; the journal does not accept it later. */
  latestMs: number;
}

/** For a batch that is not sent: each of its payments already has an entry in `ends`, so this is never read. */
const NOTHING_SENT = Promise.resolve<EndedJob>({ outcome: 'unknown' });

/** Writes the job that settles the batch into the journal. From there it is sent, whichever process goes on. */
export async function submit(
  { journal, jobs, records, wallets }: SubmitParts,
  { lane, runner, planner, onTrouble }: Relayer,
  job: NamedJob,
  { attempts, ends, transaction }: ReadyBatch,
): Promise<SentBatch> {
  const { jobId } = job;
  const batch = { jobId, attempts, isOfAccounts: transaction?.running === null, ends, paid: null };
  if (attempts.length === 0) return { ...batch, mined: NOTHING_SENT };
  const payload = encodeSettlementJob(attempts.map(({ payment }) => payment));
  const named = { ...job, ...payload, wallet: 'relayer', keyId: 'verifier' };
  if (transaction) planner.remember(jobId, transaction);
  const mined = jobs.untilMined(jobId);
  try {
    crashPoint('S1');
    const submitted = await (transaction === null
      ? journal.submitNamed(named)
      : runner.launch({ ...named, step: stepFor(transaction) }));
    if (submitted.outcome === 'refused') {
      if (transaction?.running) await wallets.release(jobId).catch(onTrouble);
      await Promise.all(attempts.map(({ record }) => records.release(record, jobId))).catch(onTrouble);
      const end: AttemptEnd = { outcome: 'unavailable', reason: `relayer_${submitted.reason}` };
      for (const attempt of attempts) ends.set(attempt, end);
    } else {
      crashPoint('S2');
      if (transaction === null && job.lane.address === lane.address) runner.wake(jobId);
    }
  } catch (error) {
    // StoreUnavailableError: unknown whether it was written; the journal will show it.
    onTrouble(error);
  }
  return { ...batch, mined };
}

/** The relayer sends by a simulation of its own that is younger than this, and repeats an older one. */
const PLANNED_FRESH_MS = 5_000;

/**
 * Plans the single transaction of a relayer's job: from its recent simulation if there is one, otherwise from a new
 * one.
 */
export class SettlementPlanner implements JobPlanner {
  readonly #simulated = new Map<string, { transaction: SimulatedTransaction; atMs: number }>();

  constructor(
    private readonly simulation: Simulation,
    private readonly wallets: Pick<ContractWallets, 'admit' | 'release'>,
    private readonly relayer: Hex,
  ) {}

  /** Keeps the simulation of a job that is being submitted. */
  remember(jobId: string, transaction: SimulatedTransaction): void {
    const nowMs = performance.now();
    for (const [oldId, { atMs }] of this.#simulated) {
      if (nowMs - atMs < PLANNED_FRESH_MS) break;
      this.#simulated.delete(oldId);
    }
    this.#simulated.set(jobId, { transaction, atMs: nowMs });
  }

  async plan(job: JobRecord): Promise<JobPlan> {
    const transaction = this.#recall(job.id) ?? (await this.#simulate(job));
    if (!transaction) return this.#giveUp(job.id, NOTHING_TO_SETTLE);
    await this.#admit(job.id, transaction);
    return { steps: [stepFor(transaction)], preview: null, floorsHash: 'none', needsApproval: false };
  }

  /** A job that was launched holds its gas already; one planned later, as a permit or after a crash, does not. */
  async #admit(jobId: string, { running, gas }: SimulatedTransaction): Promise<void> {
    const refusal = running && (await this.wallets.admit(jobId, { ...running, gas }));
    if (refusal === 'contract_wallets_busy')
      throw new Error('The gas budget of contract wallets is held by payments in flight. The job is retried.');
    if (refusal) await this.#giveUp(jobId, WALLET_REFUSED);
  }

  /** The job may hold gas from its launch, if it had to wait and is now planned again. */
  async #giveUp(jobId: string, failure: JobFailure): Promise<never> {
    await this.wallets.release(jobId);
    throw new PlanFailure(failure);
  }

  #recall(jobId: string): SimulatedTransaction | null {
    const simulated = this.#simulated.get(jobId);
    return simulated && performance.now() - simulated.atMs < PLANNED_FRESH_MS ? simulated.transaction : null;
  }

  async #simulate(job: JobRecord): Promise<SimulatedTransaction | null> {
    const entries = parseSettlementJob(job);
    const [first, ...others] = entries;
    if (first && others.length === 0) return this.simulation.simulateAlone(first, this.relayer);
    return (await this.simulation.simulateShared(entries, this.relayer)).transaction;
  }
}

const NOTHING_TO_SETTLE = {
  code: 'NOTHING_TO_SETTLE',
  message: 'None of the payments can be settled in the current state of the chain.',
  suggestion: 'Nothing was sent. Each payer gets the reason with its next request.',
};

const WALLET_REFUSED = {
  code: 'CONTRACT_WALLET_REFUSED',
  message:
    "Contract wallets of this code, or all together, have burnt too much of the relayers' gas within an hour, or contract wallets are not accepted.",
  suggestion: 'Nothing was sent. Pay from an account without code.',
};
