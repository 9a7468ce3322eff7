import type { Hex } from '@tollgate/protocol';
import {
  PlanFailure,
  type JobFailure,
  type JobPlan,
  type JobPlanner,
  type JobRecord,
  type PlannedStep,
} from '@tollgate/transactions';

import type { SendableCall } from './call-trial.js';
import type { ContractWallets } from './contract-wallets.js';
import { readPermitJob, SETTLE_PERMIT_OPERATION } from './permit-job.js';
import { parseSettlementJob } from './settlement-job.js';
import type { Trials, TriedSettlement } from './trials.js';

type PlannedCall = SendableCall & { count: number };

/** What was tried so lately need not be tried again. */
const FRESH_MS = 5_000;

/** Makes a relayer's job into its one transaction: as it was tried a moment ago, else as it can be settled now. */
export class SettlementPlanner implements JobPlanner {
  readonly #tried = new Map<string, { settlement: TriedSettlement; atMs: number }>();

  constructor(
    private readonly trials: Trials,
    private readonly wallets: Pick<ContractWallets, 'admit' | 'release'>,
    private readonly relayer: Hex,
  ) {}

  /** Remembers how a job that is submitted now was tried. */
  remember(jobId: string, settlement: TriedSettlement): void {
    const nowMs = performance.now();
    for (const [oldId, { atMs }] of this.#tried) {
      if (nowMs - atMs < FRESH_MS) break;
      this.#tried.delete(oldId);
    }
    this.#tried.set(jobId, { settlement, atMs: nowMs });
  }

  async plan(job: JobRecord): Promise<JobPlan> {
    const tried = job.operation === SETTLE_PERMIT_OPERATION ? await this.#tryPermit(job) : await this.#tryEntries(job);
    if (!tried) return this.#giveUp(job.id, NOTHING_TO_SETTLE);
    await this.#admit(job.id, tried);
    return { steps: [stepFor(tried)], preview: null, floorsHash: 'none', needsApproval: false };
  }

  /** One that was launched holds its gas by now; what is planned later, as a permit or after a crash, does not. */
  async #admit(jobId: string, { walletCode: code, gas }: PlannedCall): Promise<void> {
    const refusal = code && (await this.wallets.admit(jobId, { code, gas }));
    if (refusal === 'contract_wallets_busy') throw new Error('Contract wallets have too much gas under way.');
    if (refusal) await this.#giveUp(jobId, WALLET_REFUSED);
  }

  /** It may hold gas since it was launched, before it had to wait and be planned again. */
  async #giveUp(jobId: string, failure: JobFailure): Promise<never> {
    await this.wallets.release(jobId);
    throw new PlanFailure(failure);
  }

  async #tryPermit(job: JobRecord): Promise<PlannedCall | null> {
    const { call, payer } = readPermitJob(job);
    const tried = await this.trials.tryPermit(call, payer, this.relayer);
    return tried && { ...tried, count: 1 };
  }

  async #tryEntries(job: JobRecord): Promise<PlannedCall | null> {
    const settlement = this.#recall(job.id) ?? (await this.#tryAgain(job));
    return settlement && { ...settlement, count: settlement.entries.length };
  }

  #recall(jobId: string): TriedSettlement | null {
    const tried = this.#tried.get(jobId);
    return tried && performance.now() - tried.atMs < FRESH_MS ? tried.settlement : null;
  }

  async #tryAgain(job: JobRecord): Promise<TriedSettlement | null> {
    const entries = parseSettlementJob(job);
    const [first, ...others] = entries;
    if (first && others.length === 0) return this.trials.tryAlone(first, this.relayer);
    return (await this.trials.tryShared(entries, this.relayer)).settlement;
  }
}

/** Stands in the journal, so that any process knows what a mined step is. */
const WALLET_LABEL = "Settle a contract wallet's payment";

/** The one step of a job that settles so many payments. */
export function stepFor({ call, gas, walletCode, count }: PlannedCall): PlannedStep {
  const label = count === 1 ? 'Settle a payment' : `Settle ${count} payments`;
  return { ...call, label: walletCode === null ? label : WALLET_LABEL, value: 0n, gas };
}

/** Whether the payer's code runs in it, and its gas is held in the budget. */
export function isOfContractWallet({ label }: Pick<PlannedStep, 'label'>): boolean {
  return label === WALLET_LABEL;
}

const NOTHING_TO_SETTLE = {
  code: 'NOTHING_TO_SETTLE',
  message: 'None of the payments can be settled as the chain is now.',
  suggestion: 'Nothing was sent. Each payer is told why when he asks again.',
};

const WALLET_REFUSED = {
  code: 'CONTRACT_WALLET_REFUSED',
  message: 'No gas is spent on this contract wallet now.',
  suggestion: 'Nothing was sent. The payer may pay from an account without code.',
};
