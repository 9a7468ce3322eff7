import type { OperationContext, PlanDraft } from '@tollgate/agent-kit/planner';
import type { TargetRules } from '@tollgate/common';
import type { JobRecord, Journal, JsonValue, StepReceipt, StepRecord, StepVerdict } from '@tollgate/transactions';

/** What plans and judges the jobs of operation `payment`: input `{url, maxAmount?}`, one step, for one wallet. */
export interface PaymentPlanner {
  /**
   * Asks the price and drafts the transfer that pays it; like every draft it must still be held against the policy and be
   * simulated. The challenge that the transfer answers stands in the job's details when this resolves. Asked again before
   * the signature, it drafts the same transfer while that challenge is young, and asks for a new one later: a receiver or an
   * amount that nobody agreed to shows in `recipients` and `spends`.
   * @throws AgentKitError `NETWORK_ERROR`: ask again later; any other: the job cannot be done
   */
  plan(job: JobRecord, context: { token: number }): Promise<PlanDraft>;
  /** The same for what is no job: writes nothing. */
  dryRun(input: JsonValue): Promise<PlanDraft>;
  /** Done when the paid answer is in the job's details; fetches it in the background meanwhile. */
  judge(job: JobRecord, step: StepRecord, receipt: StepReceipt, context: { token: number }): Promise<StepVerdict>;
  /** Breaks off what runs in the background; whoever judges the job next begins it again. */
  stop(): Promise<void>;
}

/** The rules for targets hold for every request. */
export interface PaymentPlannerOptions extends TargetRules {
  journal: Pick<Journal, 'putDetail' | 'readLane'>;
  /** The kit's view of the wallet's chain; asked for each plan, since the chain may be away when the worker starts. */
  readContext: () => Promise<Pick<OperationContext, 'account' | 'chainId' | 'client' | 'payments'>>;
  /** Longest wait for one price; 10 s. */
  priceTimeoutMs?: number;
  /** How long a job waits for a server that tells no price; 10 min. */
  patienceMs?: number;
  /** From a payment's confirmation to its answer; 10 min. */
  redeemWithinMs?: number;
  /** One attempt to fetch the paid answer; 30 s. */
  attemptTimeoutMs?: number;
}
