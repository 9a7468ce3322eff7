import {
  nameAllowance,
  readAllowanceCondition,
  writeAllowanceCondition,
  type AllowanceScope,
} from '@tollgate/agent-jobs';
import {
  readAllowanceCall,
  storeFailures,
  type AllowanceCall,
  type PlannedOperation,
  type SettledStep,
  type Step,
} from '@tollgate/agent-kit/planner';
import type { JobRecord, PlannedStep } from '@tollgate/journal';
import type { Address } from 'viem';

/**
 * A step in the journal's form. An approval is skipped if its allowance is already there when it would be signed, a
 * revocation if the allowance is zero.
 */
export function createJobStep(step: SettledStep, owner: Address): PlannedStep {
  const { label, to, data, value, gasLimit, failures } = step;
  const call = readAllowanceCall(step);
  const isOwn = step.approval !== undefined || call?.amount === 0n;
  return {
    label,
    to,
    data,
    value,
    gas: gasLimit,
    ...(call && isOwn && { holdsIf: writeAllowanceCondition({ owner, ...call }) }),
    // Valid JSON, because it consists of texts and of the kit's error names.
    ...(failures && { failures: storeFailures(failures) }),
  };
}

/** The allowances that the steps set; one job at a time may change each of them. */
export function listScopes(steps: readonly Pick<Step, 'to' | 'data'>[]): AllowanceScope[] {
  const scopes: AllowanceScope[] = [];
  for (const { token, spender } of steps.flatMap((step) => readAllowanceCall(step) ?? [])) {
    if (!scopes.some((scope) => isSameScope(scope, { token, spender }))) scopes.push({ token, spender });
  }
  return scopes;
}

/** Whether a plan omits an approval because an earlier transaction, not one of this job, set the allowance. */
export function reliesOnAllowance(
  { plan, steps }: Pick<PlannedOperation, 'plan' | 'steps'>,
  job: Pick<JobRecord, 'steps' | 'stepIndex'>,
): boolean {
  const made = [...listScopes(steps), ...listGranted(job)];
  return listScopes(plan.steps).some((scope) => !made.some((known) => isSameScope(known, scope)));
}

/** The allowances set by the job's own mined steps, with their last amounts. */
export function listGranted({ steps, stepIndex }: Pick<JobRecord, 'steps' | 'stepIndex'>): AllowanceCall[] {
  const granted = new Map<string, AllowanceCall>();
  for (const { holdsIf, mined, attempts, skipped } of steps.slice(0, stepIndex)) {
    const attempt = attempts.find(({ hash }) => hash === mined?.hash);
    if (holdsIf === undefined || skipped || !attempt || attempt.kind === 'cancel') continue;
    const { token, spender, amount } = readAllowanceCondition(holdsIf);
    if (amount > 0n) granted.set(nameAllowance({ token, spender }), { token, spender, amount });
  }
  return [...granted.values()];
}

function isSameScope(one: AllowanceScope, other: AllowanceScope): boolean {
  return nameAllowance(one) === nameAllowance(other);
}

/** The last block with a step of the job; 0: none is mined. */
export function readMinedBlock({ steps }: Pick<JobRecord, 'steps'>): number {
  return Math.max(0, ...steps.map(({ mined }) => mined?.blockNumber ?? 0));
}

/**
 * A mined step is never sent again. If a plan contains it once more, the node may not have seen its block yet; and a
 * token whose allowance never changes would have it sent endlessly.
 * @throws Error
 */
export function assertNotRepeated(job: JobRecord, stepIndex: number, [next]: readonly PlannedStep[]): void {
  const before = job.steps.slice(0, stepIndex).filter(({ mined, skipped }) => mined !== null && !skipped);
  const isDone = before.some(({ to, data, value }) => to === next?.to && data === next.data && value === next.value);
  if (isDone) throw new Error(`A step of job ${job.id} is mined, but the chain does not show its effect.`);
}
