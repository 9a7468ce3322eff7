import { z } from 'zod';

import { EXECUTE_PLAN, parseInput } from '../operations/define/operation.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { assertNotExpired, type Plan } from '../types/plan.js';
import { answer, sendPlan, type OperationResult, type OperationRunner, type RunOptions } from './run-operation.js';

/** The most plans that a process stores for one kit; a newer one replaces the oldest. */
export const MOST_PLANS = 100;

/** The state of a plan, for repeated calls that ask for it. */
interface PlanEnding {
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
class KeptPlans {
  readonly #plans = new Map<string, KeptPlan>();

  /** @returns an id that cannot be guessed. */
  keep(plan: Plan): string {
    if (this.#plans.size >= MOST_PLANS) this.#forgetOldest();
    const id = crypto.randomUUID();
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
function findKeptPlans(kit: OperationRunner): KeptPlans {
  const kept = keptByKit.get(kit) ?? new KeptPlans();
  keptByKit.set(kit, kept);
  return kept;
}

/** How long a plan waits for its execution. */
const PLAN_LIFETIME_MS = 5 * 60_000;

export const EXECUTE_PLAN_INPUT = z.object({
  planId: z.string().describe('As returned by the plan tool'),
  summary: z.string().describe('As returned by the plan tool, character for character; the person approves this text'),
});

/** Plans a write, stores the plan and sends nothing; never throws. */
export async function keepPlan(
  kit: OperationRunner,
  name: string,
  input: unknown,
  { suggestion, ...options }: RunOptions & { suggestion: string },
): Promise<OperationResult> {
  let summary = '';
  const result = await answer(options, async () => {
    const plan = await kit.plan(name, input, { lifetimeMs: PLAN_LIFETIME_MS });
    summary = plan.summaryLine;
    const planId = findKeptPlans(kit).keep(plan);
    const expiresAt = new Date(plan.expiresAtMs ?? Date.now()).toISOString();
    return { status: 'planned', planId, summary, expiresAt, preview: plan.preview.split('\n'), suggestion };
  });
  // Never cut, whatever else was cut to fit: with one character less the plan could not be executed.
  return result.status === 'planned' ? { ...result, summary } : result;
}

/** Executes a stored plan, once, if the summary matches; never throws. */
export async function executeKeptPlan(
  kit: OperationRunner,
  input: unknown,
  options: RunOptions,
): Promise<OperationResult> {
  let end: (ending: PlanEnding) => void = () => undefined;
  const result = await answer(options, async (noteSending) => {
    const { planId, summary } = parseExecution(input);
    const taken = findKeptPlans(kit).take(planId, summary);
    end = taken.end;
    return sendPlan(kit, taken.plan, options, noteSending);
  });
  end(describeEnding(result));
  return result;
}

function parseExecution(input: unknown): z.output<typeof EXECUTE_PLAN_INPUT> {
  const parsed = parseInput({ name: EXECUTE_PLAN, input: EXECUTE_PLAN_INPUT }, input);
  return parsed as z.output<typeof EXECUTE_PLAN_INPUT>;
}

function describeEnding(result: OperationResult): PlanEnding {
  const ended = `This plan was already executed; it ended with the status "${result.status}"`;
  const hashes = listHashes(result);
  if (hashes.length > 0) return { message: `${ended}. It sent ${hashes.join(', ')}.` };
  if (result.status === 'success' || result.status === 'signed') return { message: `${ended}.` };
  if (result['code'] === 'UNEXPECTED') {
    return {
      message: `${ended}, and may have sent transactions.`,
      suggestion: 'Look at the latest transactions of the account (getAccount has its page) before making a new plan.',
    };
  }
  return { message: `${ended}, and sent nothing.`, suggestion: 'Make a new plan, if it is still wanted.' };
}

function listHashes({ status, result, transactions }: OperationResult): string[] {
  if (status === 'signed') return [];
  const sent = Array.isArray(transactions) ? transactions : [];
  const hashes = [
    ...sent.map((one) => (typeof one === 'object' && one !== null && 'hash' in one ? one.hash : null)),
    result,
  ];
  return [...new Set(hashes.filter((hash) => typeof hash === 'string'))];
}
