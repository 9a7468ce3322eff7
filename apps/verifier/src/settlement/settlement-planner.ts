import type { Hex } from '@tollgate/protocol';
import { PlanFailure, type JobPlan, type JobPlanner, type JobRecord, type PlannedStep } from '@tollgate/transactions';

import { readPermitJobCall, SETTLE_PERMIT_OPERATION } from './permit-job.js';
import { parseSettlementJob } from './settlement-job.js';
import type { Trials, TriedSettlement } from './trials.js';

type PlannedCall = Pick<TriedSettlement, 'call' | 'gas'> & { count: number };

/** What was tried so lately need not be tried again. */
const FRESH_MS = 5_000;

/** Makes a relayer's job into its one transaction: as it was tried a moment ago, else as it can be settled now. */
export class SettlementPlanner implements JobPlanner {
  readonly #tried = new Map<string, { settlement: TriedSettlement; atMs: number }>();

  constructor(
    private readonly trials: Trials,
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
    if (!tried) throw new PlanFailure(NOTHING_TO_SETTLE);
    return { steps: [stepFor(tried)], preview: null, floorsHash: 'none', needsApproval: false };
  }

  async #tryPermit(job: JobRecord): Promise<PlannedCall | null> {
    const tried = await this.trials.tryCall(readPermitJobCall(job), this.relayer);
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

/** The one step of a job that settles so many payments. */
export function stepFor({ call, gas, count }: PlannedCall): PlannedStep {
  const label = count === 1 ? 'Settle a payment' : `Settle ${count} payments`;
  return { ...call, label, value: 0n, gas };
}

const NOTHING_TO_SETTLE = {
  code: 'NOTHING_TO_SETTLE',
  message: 'None of the payments can be settled as the chain is now.',
  suggestion: 'Nothing was sent. Each payer is told why when he asks again.',
};
