import {
  PlanFailure,
  type JobFailure,
  type JobPlan,
  type JobPlanner,
  type JobRecord,
  type PlannedStep,
} from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';

import { parseSettlementJob } from '../payments/settlement-job.js';
import type { SimulatedTransaction, Simulation } from '../simulation/simulation.js';
import type { ContractWallets } from '../state/contract-wallets.js';

/** A simulation younger than this is not repeated. */
const FRESH_MS = 5_000;

/**
 * Plans the single transaction of a relayer's job: from its recent simulation if there is one, otherwise from a new
 * one.
 */
export class SettlementPlanner implements JobPlanner {
  readonly #tried = new Map<string, { transaction: SimulatedTransaction; atMs: number }>();

  constructor(
    private readonly simulation: Simulation,
    private readonly wallets: Pick<ContractWallets, 'admit' | 'release'>,
    private readonly relayer: Hex,
  ) {}

  /** Keeps the simulation of a job that is being submitted. */
  remember(jobId: string, transaction: SimulatedTransaction): void {
    const nowMs = performance.now();
    for (const [oldId, { atMs }] of this.#tried) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#tried.delete(oldId);
    }
    this.#tried.set(jobId, { transaction, atMs: nowMs });
  }

  async plan(job: JobRecord): Promise<JobPlan> {
    const transaction = this.#recall(job.id) ?? (await this.#simulate(job));
    if (!transaction) return this.#giveUp(job.id, NOTHING_TO_SETTLE);
    await this.#admit(job.id, transaction);
    return { steps: [stepFor(transaction)], preview: null, floorsHash: 'none', needsApproval: false };
  }

  /** A job that was launched holds its gas already; one planned later, as a permit or after a crash, does not. */
  async #admit(jobId: string, { walletCode: code, gas }: SimulatedTransaction): Promise<void> {
    const refusal = code && (await this.wallets.admit(jobId, { code, gas }));
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
    const tried = this.#tried.get(jobId);
    return tried && performance.now() - tried.atMs < FRESH_MS ? tried.transaction : null;
  }

  async #simulate(job: JobRecord): Promise<SimulatedTransaction | null> {
    const entries = parseSettlementJob(job);
    const [first, ...others] = entries;
    if (first && others.length === 0) return this.simulation.tryAlone(first, this.relayer);
    return (await this.simulation.tryShared(entries, this.relayer)).transaction;
  }
}

/** Stored in the journal, so that any process can tell what a mined step is. */
const WALLET_LABEL = "Settle a contract wallet's payment";

/** The only step of a job. */
export function stepFor({ call, gas, walletCode, entries: { length: count } }: SimulatedTransaction): PlannedStep {
  const label = count === 1 ? 'Settle a payment' : `Settle ${count} payments`;
  return { ...call, label: walletCode === null ? label : WALLET_LABEL, value: 0n, gas };
}

/** Whether the payer's code runs in the step, so that its gas is held in the budget. */
export function isOfContractWallet({ label }: Pick<PlannedStep, 'label'>): boolean {
  return label === WALLET_LABEL;
}

const NOTHING_TO_SETTLE = {
  code: 'NOTHING_TO_SETTLE',
  message: 'None of the payments can be settled in the current state of the chain.',
  suggestion: 'Nothing was sent. Each payer gets the reason with its next request.',
};

const WALLET_REFUSED = {
  code: 'CONTRACT_WALLET_REFUSED',
  message: 'This contract wallet may not have gas spent on it now.',
  suggestion: 'Nothing was sent. The payer may pay from an account without code.',
};
