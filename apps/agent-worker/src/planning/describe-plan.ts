import { showSymbol, type PlannedOperation, type TokenAmount } from '@tollgate/agent-kit/planner';
import { formatTokenAmount, type AgentAmountView, type AgentPlanView } from '@tollgate/protocol';

/** A plan as shown to the job's owner. */
export function describePlan(
  { plan, spending }: Pick<PlannedOperation, 'plan' | 'spending'>,
  terms: Pick<AgentPlanView, 'floorsHash' | 'needsApproval'>,
): AgentPlanView {
  return {
    summary: plan.summary,
    preview: plan.preview,
    spends: spending.map(describeAmount),
    receives: plan.receives.map(describeAmount),
    recipients: plan.recipients,
    warnings: plan.warnings ?? [],
    slippageBps: plan.slippageBps ?? null,
    floorsHash: terms.floorsHash,
    needsApproval: terms.needsApproval,
  };
}

function describeAmount({ token, amountBaseUnits }: TokenAmount): AgentAmountView {
  return {
    token: token.address,
    symbol: showSymbol(token),
    amount: formatTokenAmount(amountBaseUnits, token.decimals),
  };
}
