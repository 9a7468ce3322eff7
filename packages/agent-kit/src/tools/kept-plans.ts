import { randomUUID } from 'node:crypto';

import { AgentKitError } from '../agent-kit-error.js';
import { assertNotExpired } from '../plan/assert-not-expired.js';
import type { Plan } from '../plan/plan.js';
import type { OperationRunner } from './operation-runner.js';

/** The most plans that a process stores for one kit; a newer one replaces the oldest. */
export const MOST_PLANS = 100;

/** The state of a plan, for repeated calls that ask for it. */
export interface PlanEnding {
  message: string;
  suggestion?: string;
}

interface KeptPlan {
  plan: Plan;
  /** Null until it is taken. */
  ending: PlanEnding | null;
}

const IN_PROGRESS: PlanEnding = {
  message: 'Another call is executing this plan.',
  suggestion: 'Wait for the answer of that call. Do not make a new plan for the same purpose.',
};

/** Plans that wait for their execution, in this process and for one kit, that is, for its account on its chain. */
export class KeptPlans {
  readonly #plans = new Map<string, KeptPlan>();

  /** @returns an id that cannot be guessed. */
  keep(plan: Plan): string {
    if (this.#plans.size >= MOST_PLANS) this.#forgetOldest();
    const id = randomUUID();
    this.#plans.set(id, { plan, ending: null });
    return id;
  }

  /**
   * Takes a plan once: of two concurrent calls the second gets the error. A plan requested with another summary stays.
   * @returns the plan, and a function to call with its outcome.
   * @throws AgentKitError `UNKNOWN_PLAN`, `PLAN_USED`, `PLAN_MISMATCH`, `PLAN_EXPIRED`
   */
  take(id: string, summary: string): { plan: Plan; end: (ending: PlanEnding) => void } {
    const kept = this.#plans.get(id);
    if (!kept) {
      throw new AgentKitError(
        'UNKNOWN_PLAN',
        `There is no plan with this id here: plans belong to one process, account and chain, and the last ${MOST_PLANS} are kept.`,
      );
    }
    if (kept.ending) {
      const { message, suggestion } = kept.ending;
      throw new AgentKitError('PLAN_USED', message, suggestion === undefined ? {} : { suggestion });
    }
    if (summary !== kept.plan.summaryLine) {
      throw new AgentKitError('PLAN_MISMATCH', 'The summary is not that of the plan, character for character.');
    }
    assertNotExpired(kept.plan);
    kept.ending = IN_PROGRESS;
    return { plan: kept.plan, end: (ending) => void (kept.ending = ending) };
  }

  /** A running plan is kept as long as possible, because it must not appear unknown. */
  #forgetOldest(): void {
    const ids = [...this.#plans.keys()];
    const oldest = ids.find((id) => this.#plans.get(id)?.ending !== IN_PROGRESS) ?? ids[0];
    if (oldest !== undefined) this.#plans.delete(oldest);
  }
}

const keptByKit = new WeakMap<OperationRunner, KeptPlans>();

/** Shared by all tools of a kit, including those that a web server creates anew for each request. */
export function findKeptPlans(kit: OperationRunner): KeptPlans {
  const kept = keptByKit.get(kit) ?? new KeptPlans();
  keptByKit.set(kit, kept);
  return kept;
}
