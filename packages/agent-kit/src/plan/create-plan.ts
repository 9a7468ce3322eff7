import { readHeadTerms } from '@tollgate/client/internal';
import { highestPrice } from '@tollgate/protocol';
import { formatEther, stringify } from 'viem';

import { explainFailure } from '../chain/explain-failure.js';
import type { OperationContext, WriteOperation } from '../operations/define/operation.js';
import { assertPolicy } from '../policy/assert-policy.js';
import type { SpendingPolicy } from '../policy/policy.js';
import { listSpending } from '../policy/spending.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { freezeCopy, type Plan, type PlanDraft, type Step } from '../types/plan.js';
import type { TokenAmount } from '../types/token.js';
import type { Connection } from './connection.js';
import { settleApprovals } from './settle-approvals.js';
import { createPreview, createSummaryLine } from './show-plan.js';
import { simulateSteps } from './simulate-steps.js';

/** The specification warns below this native balance (section "Limits"): 0.01. */
const LOW_BALANCE_WEI = 10n ** 16n;

export interface PlannedOperation {
  plan: Plan;
  /**
   * The steps to send now, in order: approvals whose allowance is already there are omitted, others may need an extra
   * call first.
   */
  steps: readonly Step[];
  /** The gas that each of these steps used in the simulation; null if the node cannot simulate them all together. */
  gas: readonly bigint[] | null;
  /** Of the chain's head. */
  blockGasLimit: bigint;
  /** The most that it can take out of the account, by token. */
  spending: readonly TokenAmount[];
}

/** The part of an operation that makes a draft. */
export type DraftingOperation = Pick<WriteOperation, 'name' | 'plan'>;

/** A parallel plan of the account may give an allowance and use it up while this one is made. */
const MOST_SETTLINGS = 4;

export interface PlanningOptions {
  /** Called with the native balance, as decimal text, when it is nearly used up. */
  onLowBalance?: (balance: string) => void;
  /** How long the plan may be executed at most; if omitted, as long as its calls are valid. */
  lifetimeMs?: number;
  /** Narrows the draft before it is checked. */
  fit?: (draft: PlanDraft) => PlanDraft;
}

/** A copy: a plugin that keeps its draft cannot change the checked plan. */
export async function makeDraft(
  operation: DraftingOperation,
  input: Record<string, unknown>,
  context: OperationContext,
  { fit = (draft) => draft }: PlanningOptions,
): Promise<PlanDraft> {
  return freezeCopy(fit(await operation.plan(input, context)));
}

/**
 * Turns an operation's draft into an executable plan, on the chain of the connection.
 * @throws AgentKitError when the policy forbids it, a step would fail, or the account cannot pay for it.
 */
export async function createPlan(
  { operation, input, draft }: { operation: string; input: Record<string, unknown>; draft: PlanDraft },
  { context, limits }: Connection,
  policy: SpendingPolicy,
  { onLowBalance, lifetimeMs }: PlanningOptions,
): Promise<PlannedOperation> {
  const { client, account } = context;
  const draftOfOperation = { ...draft, operation };
  const spending = listSpending(draft, context.tokens.native);
  assertPolicy(draftOfOperation, spending, policy, limits);
  const { transfer } = draft.payment ?? {};
  const [balance, { fees, blockGasLimit }, { steps, gas }] = await Promise.all([
    client.getBalance({ address: account }).then((wei) => {
      if (wei < LOW_BALANCE_WEI) onLowBalance?.(formatEther(wei));
      return wei;
    }),
    readHeadTerms(client),
    settleAndSimulate(context, transfer ? [...draft.steps, transfer] : draft.steps),
  ]);
  const total = gas?.reduce((sum, used) => sum + used, 0n);
  const gasEstimate = total === undefined ? null : { gas: total, feeWei: total * highestPrice(fees) };
  const { symbol } = context.tokens.native;
  const feeWei = gasEstimate?.feeWei ?? 0n;
  assertCanPay(draft, balance, feeWei, symbol);
  const lowBalance = steps.length === 0 ? null : warnOfLowBalance(draft, { balance, feeWei, symbol });
  const plan = {
    ...draftOfOperation,
    ...(lowBalance ? { warnings: [...(draft.warnings ?? []), lowBalance] } : {}),
    input,
    account,
    chainId: context.chainId,
    gasEstimate,
    ...(lifetimeMs === undefined
      ? {}
      : { expiresAtMs: Math.min(draft.expiresAtMs ?? Infinity, Date.now() + lifetimeMs) }),
  };
  const shown = { preview: createPreview(plan, symbol), summaryLine: createSummaryLine(plan, spending, symbol) };
  return { plan: freezeCopy({ ...plan, ...shown }), steps, gas, blockGasLimit, spending };
}

/**
 * @throws AgentKitError for a step that would fail, unless an allowance was just used up or given by a parallel plan.
 */
async function settleAndSimulate(
  context: AccountReader,
  draft: readonly Step[],
  failed: { steps: readonly Step[]; tries: number } | null = null,
): Promise<Pick<PlannedOperation, 'steps' | 'gas'>> {
  const steps = await settleApprovals(context, draft);
  try {
    return { steps, gas: await simulateSteps(context, steps) };
  } catch (error) {
    const tries = (failed?.tries ?? 0) + 1;
    if (tries >= MOST_SETTLINGS || explainFailure(error).code === 'NETWORK_ERROR') throw error;
    const isFirst = failed === null && draft.some(({ approval }) => approval);
    const reliesOnOthers = steps.length < draft.length;
    if (!isFirst && !reliesOnOthers && (failed === null || stringify(failed.steps) === stringify(steps))) throw error;
    return settleAndSimulate(context, draft, { steps, tries });
  }
}

/** Warns also when the plan itself leaves too little for the fee of the next transaction. */
function warnOfLowBalance(
  { steps, receives }: PlanDraft,
  { balance, feeWei, symbol }: { balance: bigint; feeWei: bigint; symbol: string },
): string | null {
  const sent = steps.reduce((sum, { value }) => sum + value, feeWei);
  const received = receives.reduce(
    (sum, { token, amountBaseUnits }) => sum + (token.isNative ? amountBaseUnits : 0n),
    0n,
  );
  const left = balance - sent + received;
  if (balance >= LOW_BALANCE_WEI && left >= LOW_BALANCE_WEI) return null;
  return `low balance: ${formatEther(balance)} ${symbol} now, about ${formatEther(left)} ${symbol} afterwards; gas is paid from it`;
}

function assertCanPay(draft: PlanDraft, balance: bigint, feeWei: bigint, symbol: string): void {
  const needed = draft.steps.reduce((sum, { value }) => sum + value, feeWei);
  if (balance >= needed) return;
  throw new AgentKitError(
    'INSUFFICIENT_FUNDS',
    `There are insufficient funds: ${formatEther(needed)} ${symbol} are needed with the gas, ${formatEther(balance)} are available.`,
    { details: { neededWei: `${needed}`, feeWei: `${feeWei}`, balanceWei: `${balance}` } },
  );
}
