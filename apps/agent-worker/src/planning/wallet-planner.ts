import {
  nameAllowance,
  TOKEN_POLICY,
  writeStoredPlan,
  type KnownToken,
  type PlanFloors,
  type WalletLimit,
} from '@tollgate/agent-jobs';
import {
  AgentKitError,
  type OperationPlanner,
  type PlanDraft,
  type PlannedOperation,
} from '@tollgate/agent-kit/planner';
import {
  PlanFailure,
  type JobPlan,
  type JobRecord,
  type JsonValue,
  type JudgeSignature,
  type JudgeStep,
  type PlannedStep,
  type WaitReason,
} from '@tollgate/journal';
import { formatTokenAmount } from '@tollgate/protocol';
import { readRefundJob } from '@tollgate/refunds';
import type { PlanJobReply, PlanJobRequest } from '@tollgate/transport';
import { getAddress } from 'viem';

import type { PaymentPlanner } from '../payments/payment-planner.js';
import type { PlannedWallet } from '../wallets/worker-wallet.js';
import { assertNamed, assertWalletOf } from './assert-wallet.js';
import {
  assertNotRepeated,
  createJobStep,
  listGranted,
  listScopes,
  readMinedBlock,
  reliesOnAllowance,
} from './create-job-steps.js';
import { nameOfKit } from './create-operation-planner.js';
import { countSpending, describeLimits, describePlan, needsApproval } from './describe-plan.js';
import { createJudge } from './judge-step.js';
import { limitDraft, limitInput, listCeilings, narrowInput, type Ceilings } from './narrow-plan.js';
import { createFloors, hashFloors, isWithin, readAgreedFloors } from './plan-floors.js';
import { explainDelay, PlanningTrouble, toPlanFailure } from './planning-trouble.js';
import type { JobPlanning } from './plannings.js';

export interface WalletPlannerOptions {
  wallet: PlannedWallet;
  /** For the wallet's account, from `createOperationPlanner`. */
  kit: OperationPlanner;
  payments: PaymentPlanner;
}

type Input = Readonly<Record<string, unknown>>;

/** A job's plan, and the signature that comes after its calls. */
interface Drafted {
  planned: PlannedOperation;
  signature: PlannedStep | null;
}

const NO_CEILINGS: Ceilings = new Map();

/** Plans and judges the jobs of one wallet, each operation through the agent kit. It has no key. */
export class WalletPlanner implements JobPlanning {
  readonly policy = TOKEN_POLICY;
  readonly judgeStep: JudgeStep;
  readonly judgeSignature: JudgeSignature;
  readonly #wallet: PlannedWallet;
  readonly #kit: OperationPlanner;
  readonly #payments: PaymentPlanner;
  readonly #trouble: PlanningTrouble;

  constructor({ wallet, kit, payments }: WalletPlannerOptions) {
    this.#wallet = wallet;
    this.#kit = kit;
    this.#payments = payments;
    this.#trouble = new PlanningTrouble(kit);
    this.judgeStep = createJudge(kit, payments.answers);
    this.judgeSignature = (...asked) => payments.answers.judgeSignature(...asked);
  }

  /**
   * Plans the rest of a job: mined approvals are no longer part of it, and the operation's own call is always the last
   * step, after which nothing is planned.
   */
  async plan(job: JobRecord, context: { stepIndex: number; token: number }): Promise<JobPlan> {
    try {
      const plan = await this.#planJob(job, context);
      this.#trouble.forget(job.id);
      return plan;
    } catch (error) {
      throw await this.#trouble.explain(job, error);
    }
  }

  explainDelay(error: unknown): WaitReason | null {
    return explainDelay(error);
  }

  /** Revokes the rest of the allowances that the job's own steps set. */
  async undo(job: JobRecord): Promise<readonly PlannedStep[]> {
    const sinceBlock = readMinedBlock(job);
    const granted = listGranted(job).map(({ token, spender }) => ({ token, spender, sinceBlock }));
    const revocations = await Promise.all(granted.map((allowance) => this.#kit.planRevocation(allowance)));
    return revocations.flatMap((step) => (step ? [createJobStep(step, this.#kit.address)] : []));
  }

  async readTokens(): Promise<readonly KnownToken[]> {
    const { tokens } = await this.#kit.readContext();
    return tokens.named.map(({ token: { symbol, address, decimals }, names }) => ({
      symbol,
      address,
      decimals,
      names,
    }));
  }

  async readLimits(): Promise<readonly WalletLimit[]> {
    const [{ limits }, above] = await Promise.all([
      this.#kit.connect(),
      this.#kit.readAmounts('approvalAbove', this.#wallet.approvalAbove),
    ]);
    return describeLimits(limits, above);
  }

  async dryRun({ operation, input }: Pick<PlanJobRequest, 'operation' | 'input'>): Promise<PlanJobReply> {
    try {
      assertWalletOf(operation, this.#wallet.name);
      const planned =
        operation === 'payment'
          ? await this.#draftPayment(input, () => this.#payments.dryRun(input as JsonValue))
          : await this.#planOperation(operation, input, NO_CEILINGS);
      return { outcome: 'planned', plan: await this.#describe(planned, createFloors(planned)) };
    } catch (error) {
      const failure = toPlanFailure(error)?.failure;
      return failure ? { outcome: 'refused', failure } : { outcome: 'unavailable', reason: UNAVAILABLE };
    }
  }

  async #planJob(job: JobRecord, { stepIndex, token }: { stepIndex: number; token: number }): Promise<JobPlan> {
    const agreed = readAgreedFloors(job);
    const [{ planned, signature }] = await Promise.all([this.#draftJob(job, token, agreed), this.#assertUpToDate(job)]);
    const fresh = createFloors(planned);
    const isAgreed = agreed !== null && isWithin(fresh, agreed);
    if (agreed && !isAgreed && !job.approval) throw new AgentKitError('SLIPPAGE', PRICE_LEFT_BOUNDS);
    const floors = isAgreed ? agreed : fresh;
    const described = await this.#describe(planned, floors);
    const view = {
      ...described,
      needsApproval: described.needsApproval || (readRefundJob(job)?.needsApproval ?? false),
    };
    const calls = (await this.#kit.limitGas(planned)).map((step) => createJobStep(step, this.#kit.address));
    const steps = signature ? [...calls, signature] : calls;
    assertNotRepeated(job, stepIndex, steps);
    const { limits } = await this.#kit.connect();
    return {
      steps,
      preview: writeStoredPlan(view, floors),
      floorsHash: view.floorsHash,
      needsApproval: view.needsApproval,
      spendings: countSpending(planned.spending, limits.perDay),
      locks: listScopes(planned.plan.steps).map(nameAllowance),
      reliesOnLocked: reliesOnAllowance(planned, job),
    };
  }

  async #draftJob(job: JobRecord, token: number, agreed: PlanFloors | null): Promise<Drafted> {
    assertNamed(job, this.#wallet.name);
    assertWalletOf(job.operation, this.#wallet.name);
    if (job.operation === 'payment') return this.#planPayment(job, token);
    return { planned: await this.#draftOperation(job, agreed), signature: null };
  }

  async #draftOperation(job: JobRecord, agreed: PlanFloors | null): Promise<PlannedOperation> {
    // Always an object: the gateway and the worker accept nothing else.
    const input = job.input as Input;
    const { operation } = job;
    if (operation === 'refund') return this.#planRefund(job);
    const ceilings = listCeilings(job, agreed);
    if (!agreed) return this.#planOperation(operation, input, ceilings);
    // Ordinary trading may make another pool the one that holds most, which is no reason to leave the agreed one.
    const fee = input['fee'] === undefined ? agreed.deposit?.fee : undefined;
    if (fee === undefined) return this.#planAgreed(operation, input, ceilings, agreed);
    try {
      return await this.#planAgreed(operation, { ...input, fee }, ceilings, agreed);
    } catch (error) {
      if (!isPoolRefused(error)) throw error;
      return this.#planOperation(operation, input, ceilings);
    }
  }

  /** Within the agreed bounds if the price allows it. */
  async #planAgreed(operation: string, input: Input, ceilings: Ceilings, agreed: PlanFloors) {
    const planned = await this.#planOperation(operation, input, ceilings);
    if (isWithin(createFloors(planned), agreed)) return planned;
    const narrower = narrowInput(operation, input, planned.plan, agreed);
    return narrower ? this.#planOperation(operation, narrower, ceilings) : planned;
  }

  async #planOperation(operation: string, input: Input, ceilings: Ceilings): Promise<PlannedOperation> {
    const { tokens } = await this.#kit.readContext();
    const limited = await limitInput(operation, input, ceilings, tokens);
    return this.#kit.plan(nameOfKit(operation), limited, { fit: (draft) => limitDraft(draft, ceilings) });
  }

  /** The bookkeeper says how much of which token goes to whom; a job that is not its own is refused. */
  async #planRefund(job: JobRecord): Promise<PlannedOperation> {
    const refund = readRefundJob(job);
    if (refund === null) throw new PlanFailure(NO_REFUND);
    const { tokens } = await this.#kit.readContext();
    const { decimals } = await tokens.resolve(getAddress(refund.token));
    const amount = formatTokenAmount(BigInt(refund.amount), decimals);
    return this.#kit.plan(nameOfKit('refund'), { amount, token: getAddress(refund.token), to: getAddress(refund.to) });
  }

  async #planPayment(job: JobRecord, token: number): Promise<Drafted> {
    let signature: PlannedStep | null = null;
    const planned = await this.#draftPayment(job.input as Input, async () => {
      const payment = await this.#payments.plan(job, { token });
      ({ signature } = payment);
      return payment.draft;
    });
    return { planned, signature };
  }

  #draftPayment(input: Input, plan: () => Promise<PlanDraft>): Promise<PlannedOperation> {
    return this.#kit.planDraft({ name: nameOfKit('payment'), plan }, input);
  }

  /**
   * @throws AgentKitError `NETWORK_ERROR` if the node is on another chain, or does not have the block of the job's last
   * step.
   */
  async #assertUpToDate(job: JobRecord): Promise<void> {
    const { chainId } = await this.#kit.readContext();
    if (chainId !== job.lane.chainId) {
      throw new AgentKitError('NETWORK_ERROR', `The network of RPC_URL is chain ${chainId}, not ${job.lane.chainId}.`, {
        details: { rpcTrouble: 'chain_differs' },
      });
    }
    const minedAt = readMinedBlock(job);
    if (minedAt > 0 && (await this.#kit.client.getBlockNumber()) < minedAt) {
      throw new AgentKitError('NETWORK_ERROR', `The network's node is behind block ${minedAt}.`, {
        details: { rpcTrouble: 'lags' },
      });
    }
  }

  async #describe(planned: PlannedOperation, floors: PlanFloors) {
    const above = await this.#kit.readAmounts('approvalAbove', this.#wallet.approvalAbove);
    return describePlan(planned, {
      floorsHash: hashFloors(floors),
      needsApproval: needsApproval(planned, above),
    });
  }
}

/** Whether the pool of a deposit has another price than the pair's largest one, or no liquidity, by now. */
function isPoolRefused(error: unknown): boolean {
  return error instanceof AgentKitError && ['INVALID_INPUT', 'INSUFFICIENT_LIQUIDITY'].includes(error.code);
}

const NO_REFUND = {
  code: 'POLICY_VIOLATION',
  message: 'The bookkeeper did not write this refund job.',
  suggestion: 'Ask for a refund with tollgate refund; look for who can write to the journal.',
};

const PRICE_LEFT_BOUNDS =
  'The price moved beyond the slippage tolerance that the job had when its first transaction was sent.';

const UNAVAILABLE = 'The chain cannot be read now.';
