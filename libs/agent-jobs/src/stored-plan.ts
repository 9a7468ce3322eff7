import type { AgentPlanView } from '@tollgate/protocol';
import type { JobRecord } from '@tollgate/transactions';

/** What the planner keeps in the journal beside the steps (`JobRecord.plan`). Null: nothing is planned yet. */
export function readStoredPlan({ plan }: Pick<JobRecord, 'plan'>): AgentPlanView | null {
  // Written by the worker alone, through `writeStoredPlan`.
  return plan as unknown as AgentPlanView | null;
}

export function writeStoredPlan(plan: AgentPlanView): JobRecord['plan'] {
  return plan as unknown as JobRecord['plan'];
}
