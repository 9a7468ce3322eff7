import type { OperationContext, PlanDraft } from '@tollgate/agent-kit/planner';
import type { TargetRules } from '@tollgate/common';
import type { JobRecord, Journal, JsonValue, StepReceipt, StepRecord, StepVerdict } from '@tollgate/journal';

/** Plans and judges the jobs of operation `payment`: input `{url, maxAmount?}`, one step, for one wallet. */
export interface PaymentPlanner {
  /**
   * Requests the price and drafts the transfer that pays it; like every draft it must still pass the policy and the
   * simulation. When this resolves, the challenge that the transfer answers is stored in the job's details. Called
   * again before the signature, it drafts the same transfer while that challenge is young, and requests a new one
   * later; a receiver or an amount that was not approved then shows in `recipients` and `spends`.
   * @throws AgentKitError `NETWORK_ERROR`: try again later; any other: the job cannot be done
   */
  plan(job: JobRecord, context: { token: number }): Promise<PlanDraft>;
  /** Like `draft`, for a dry run: writes nothing. */
  dryRun(input: JsonValue): Promise<PlanDraft>;
  /** Done when the paid answer is in the job's details; fetches it in the background meanwhile. */
  judge(job: JobRecord, step: StepRecord, receipt: StepReceipt, context: { token: number }): Promise<StepVerdict>;
  /** Aborts the background work. The process that judges the job next starts it again. */
  stop(): Promise<void>;
}

/** The rules for allowed targets; they apply to every request. */
export interface PaymentPlannerOptions extends TargetRules {
  journal: Pick<Journal, 'putDetail' | 'readLane'>;
  /** The kit's view of the wallet's chain; called for each plan, since the chain may be down when the worker starts. */
  readContext: () => Promise<Pick<OperationContext, 'account' | 'chainId' | 'client' | 'payments'>>;
  /** Time limit for one price request; 10 s. */
  priceTimeoutMs?: number;
  /** How long a job waits for a server that returns no price; 10 min. */
  patienceMs?: number;
  /** From a payment's confirmation to its answer; 10 min. */
  redeemWithinMs?: number;
  /** One attempt to fetch the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}
