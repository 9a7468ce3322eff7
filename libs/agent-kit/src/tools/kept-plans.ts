import { randomUUID } from 'node:crypto';

import { AgentKitError } from '../agent-kit-error.js';
import { assertNotExpired } from '../plan/assert-not-expired.js';
import type { Plan } from '../plan/plan.js';
import type { OperationRunner } from './operation-runner.js';

/** The most plans that a process remembers for one kit; a newer one takes the place of the oldest. */
export const MOST_PLANS = 100;

/** What became of a plan, for calls that ask for it again. */
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
  message: 'This plan is being carried out by another call.',
  suggestion: 'Wait for the answer of that call. Do not make a new plan for the same purpose.',
};

/** Plans that wait for their execution, in this process and for one kit: for its account, on its chain. */
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
   * Gives a plan out once: of two calls at the same time the second gets the error. One that is asked for with another summary
   * stays.
   * @returns the plan, and what has to be told what became of it.
   * @throws AgentKitError `UNKNOWN_PLAN`, `PLAN_USED`, `PLAN_MISMATCH`, `PLAN_EXPIRED`
   */
  take(id: string, summary: string): { plan: Plan; end: (ending: PlanEnding) => void } {
    const kept = this.#plans.get(id);
    if (!kept) {
      throw new AgentKitError(
        'UNKNOWN_PLAN',
        `There is no plan of this id here: plans are of one process, account and chain, and the last ${MOST_PLANS} are kept.`,
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

  /** What is under way is remembered as long as possible: it must not seem never to have been. */
  #forgetOldest(): void {
    const ids = [...this.#plans.keys()];
    const oldest = ids.find((id) => this.#plans.get(id)?.ending !== IN_PROGRESS) ?? ids[0];
    if (oldest !== undefined) this.#plans.delete(oldest);
  }
}

const keptByKit = new WeakMap<OperationRunner, KeptPlans>();

/** The same for all tools of a kit, also for those that are created anew for each request of a web server. */
export function findKeptPlans(kit: OperationRunner): KeptPlans {
  const kept = keptByKit.get(kit) ?? new KeptPlans();
  keptByKit.set(kit, kept);
  return kept;
}
