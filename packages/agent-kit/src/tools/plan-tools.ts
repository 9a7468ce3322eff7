import { z } from 'zod';

import { parseInput } from '../operations/define/parse-input.js';
import { EXECUTE_PLAN } from '../operations/define/plan-tool-names.js';
import { findKeptPlans, type PlanEnding } from './kept-plans.js';
import type { OperationRunner } from './operation-runner.js';
import { answer, sendPlan, type OperationResult, type RunOptions } from './run-operation.js';

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
