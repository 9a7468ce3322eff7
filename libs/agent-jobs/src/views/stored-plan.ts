import type { JobRecord } from '@tollgate/journal';
import type { AgentPlanView } from '@tollgate/protocol';

/**
 * The exact bounds of a plan, the most that leaves and the least that arrives or goes into a pool: base units by token
 * (lower case, `0x0` for the native one).
 */
export interface PlanFloors {
  spends: Readonly<Record<string, string>>;
  receives: Readonly<Record<string, string>>;
  /** Lower case, sorted. */
  recipients: readonly string[];
  /** For a deposit into a pool, whose fee tier is in millionths. */
  deposit?: { atLeast: Readonly<Record<string, string>>; fee: number };
}

interface StoredPlan extends AgentPlanView {
  floors: PlanFloors;
}

/** The planner's data in the journal beside the steps (`JobRecord.plan`). Null: nothing is planned yet. */
export function readStoredPlan(job: Pick<JobRecord, 'plan'>): AgentPlanView | null {
  const stored = read(job);
  return stored && toView(stored);
}

/** The bounds that the plan's `floorsHash` is the hash of. Null: nothing is planned yet. */
export function readStoredFloors(job: Pick<JobRecord, 'plan'>): PlanFloors | null {
  return read(job)?.floors ?? null;
}

export function writeStoredPlan(plan: AgentPlanView, floors: PlanFloors): JobRecord['plan'] {
  return { ...plan, floors } as unknown as JobRecord['plan'];
}

function toView({ floors: _, ...view }: StoredPlan): AgentPlanView {
  return view;
}

function read({ plan }: Pick<JobRecord, 'plan'>): StoredPlan | null {
  // Safe to cast: only the worker writes it, through `writeStoredPlan`.
  return plan as unknown as StoredPlan | null;
}
