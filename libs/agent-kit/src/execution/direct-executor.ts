import { erc20Abi } from 'viem';

import { AgentKitError } from '../agent-kit-error.js';
import { createRevocation } from '../plan/create-steps.js';
import type { Approval, Plan, Step } from '../plan/plan.js';
import { simulatePlan } from '../plan/simulate-plan.js';
import type { ToolResult } from '../tool-result.js';
import type { SentTransaction } from '../transaction-events.js';
import type { ExecutionContext, Executor } from './executor.js';
import { explainFailure } from './explain-failure.js';
import { createTransactionUrl, monitorTransaction } from './monitor-transaction.js';
import { readFailure } from './read-outcome.js';
import { retryNetwork } from './retry-network.js';
import { runPayment } from './run-payment.js';
import { broadcast, signStep } from './send-step.js';

/** Signs and sends here and now; a plan has the account to itself until its last step is mined. */
export function createDirectExecutor(context: ExecutionContext): Executor {
  return {
    execute: (plan) =>
      plan.payment ? runPayment(context, plan) : context.lane.run(() => new Execution(context, plan).run()),
  };
}

class Execution {
  readonly #context: ExecutionContext;
  readonly #plan: Plan;
  readonly #sent: SentTransaction[] = [];
  /** Allowances that this execution gave; what is left of them at the end is taken back. */
  readonly #granted: Approval[] = [];

  constructor(context: ExecutionContext, plan: Plan) {
    this.#context = context;
    this.#plan = plan;
  }

  async run(): Promise<ToolResult> {
    const { client, account, networkRetryDelayMs } = this.#context;
    // Others may have moved the state since the plan was made; this costs no nonce.
    await retryNetwork(() => simulatePlan(client, account, this.#plan.steps), networkRetryDelayMs);
    try {
      for (const step of this.#plan.steps) await this.#runStep(step);
    } catch (error) {
      return await this.#fail(explainFailure(error));
    }
    const main = this.#sent.at(-1);
    await this.#takeAllowancesBack();
    return {
      status: 'success',
      ...(main ? { result: main.hash } : {}),
      ...this.#plan.report,
      transactions: this.#sent,
    };
  }

  /** @throws AgentKitError when the step was not mined, or failed. */
  async #runStep(step: Step): Promise<void> {
    if (step.approval && (await this.#readAllowance(step.approval)) >= step.approval.amountBaseUnits) return;
    const signed = await this.#signApprovalOrCall(step);
    await broadcast(this.#context, signed);
    if (step.approval) this.#granted.push(step.approval);
    const sent = this.#note(step, signed.hash);
    const receipt = await monitorTransaction(this.#context.client, signed.hash, {
      ...this.#context.monitor,
      explorerUrl: this.#context.explorerUrl,
      // A node that lost the bytes gets the same ones again.
      onMissing: () => this.#context.client.sendRawTransaction({ serializedTransaction: signed.rawTransaction }),
    });
    const failure = await readFailure(this.#context, step, receipt);
    if (failure) throw failure;
    this.#context.events.emit('transactionConfirmed', sent);
  }

  /** Some tokens refuse to change one allowance into another; they get a 0 in between. */
  async #signApprovalOrCall(step: Step) {
    const { approval } = step;
    try {
      return await signStep(this.#context, step);
    } catch (error) {
      if (!approval || explainFailure(error).code !== 'REVERTED') throw error;
      if ((await this.#readAllowance(approval)) === 0n) throw error;
      await this.#runStep(createRevocation(approval));
      return signStep(this.#context, step);
    }
  }

  #note(step: Step, hash: SentTransaction['hash']): SentTransaction {
    const { explorerUrl, events } = this.#context;
    const sent: SentTransaction = {
      operation: this.#plan.operation,
      label: step.label,
      hash,
      explorerUrl: explorerUrl === null ? null : createTransactionUrl(explorerUrl, hash),
    };
    this.#sent.push(sent);
    events.emit('transactionSubmitted', sent);
    return sent;
  }

  #readAllowance({ token, spender }: Approval): Promise<bigint> {
    const { client, account, networkRetryDelayMs } = this.#context;
    const request = { address: token.address, abi: erc20Abi, functionName: 'allowance' } as const;
    return retryNetwork(() => client.readContract({ ...request, args: [account, spender] }), networkRetryDelayMs);
  }

  /** @throws the failure itself while nothing was sent. */
  async #fail(failure: AgentKitError): Promise<ToolResult> {
    const failed = this.#sent.at(-1);
    if (!failed) throw failure;
    // A transaction whose end is not known may still need its allowance.
    if (failure.code !== 'TIMEOUT') await this.#takeAllowancesBack();
    const error = new AgentKitError(failure.code, failure.message, {
      suggestion: failure.suggestion,
      details: { ...failure.details, operation: this.#plan.operation, txHash: failed.hash },
      cause: failure,
    });
    this.#context.events.emit('transactionFailed', error);
    return {
      status: failure.code === 'TIMEOUT' ? 'timeout' : 'failed',
      result: failed.hash,
      error: failure.message,
      code: failure.code,
      suggestion: failure.suggestion,
      ...this.#plan.report,
      transactions: this.#sent,
    };
  }

  /** Best effort: an allowance that could not be taken back is reported, and does not turn a success into a failure. */
  async #takeAllowancesBack(): Promise<void> {
    for (const approval of this.#granted.splice(0)) {
      try {
        if ((await this.#readAllowance(approval)) > 0n) await this.#runStep(createRevocation(approval));
      } catch (error) {
        this.#context.events.emit('transactionFailed', explainFailure(error));
      }
    }
  }
}
