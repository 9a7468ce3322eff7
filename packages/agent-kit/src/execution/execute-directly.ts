import { signAndSend, type SignedTransaction } from '@tollgate/client';
import { PaymentError } from '@tollgate/protocol';
import type { Log, TransactionReceipt } from 'viem';

import { explainFailure, retryNetwork } from '../chain/explain-failure.js';
import { createExplorerUrl, createTimeOut } from '../chain/monitor-transaction.js';
import { readFailure } from '../chain/read-outcome.js';
import { settleApprovals } from '../plan/settle-approvals.js';
import { simulateSteps } from '../plan/simulate-steps.js';
import { readAllowance } from '../tokens/balance.js';
import { createRevocation } from '../tokens/create-steps.js';
import { showAmount, showToken } from '../tokens/show-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { assertNotExpired, type Approval, type Plan, type Step } from '../types/plan.js';
import type { ToolResult } from '../types/tool-result.js';
import type { SentTransaction } from '../types/transaction-events.js';
import type { ExecutionContext } from './execution-context.js';
import { runPayment } from './pay-for-resource.js';
import { sumArrived } from './sum-arrived.js';

/** Signs and sends at once; a plan has the account to itself until its last step is mined. */
export async function executeDirectly(context: ExecutionContext, plan: Plan): Promise<ToolResult> {
  if (plan.payment && plan.steps.length === 0) return runPayment(context, plan);
  const sent = await context.sender.inTurn(() => new Execution(context, plan).run());
  return plan.payment && sent.status === 'success' ? payAfter(context, plan, sent.transactions) : sent;
}

/** Pays after the steps that allow it: since they were sent, a payment that cannot be made is reported, not thrown. */
async function payAfter(
  context: ExecutionContext,
  plan: Plan,
  approvals: readonly SentTransaction[],
): Promise<ToolResult> {
  try {
    const paid = await runPayment(context, plan);
    return { ...paid, transactions: [...approvals, ...paid.transactions] };
  } catch (error) {
    const failure = explainFailure(error);
    context.events.emit('transactionFailed', failure);
    const { message, code, suggestion } = failure;
    return { ...plan.report, status: 'failed', error: message, code, suggestion, transactions: approvals };
  }
}

class Execution {
  readonly #context: ExecutionContext;
  readonly #plan: Plan;
  readonly #sent: SentTransaction[] = [];
  /** The transaction was sent, and is not known to have succeeded. */
  #open: SentTransaction | null = null;
  /** Of all transactions that succeeded. */
  readonly #logs: Log[] = [];
  /** Allowances that this execution gave. Whatever is left of them is revoked at the end. */
  readonly #granted: Approval[] = [];

  constructor(context: ExecutionContext, plan: Plan) {
    this.#context = context;
    this.#plan = plan;
  }

  async run(): Promise<ToolResult> {
    // Earlier tasks of the account may have changed the state since the plan was made, so the first step is simulated
    // again; this costs no nonce.
    assertNotExpired(this.#plan);
    await this.#simulate();
    try {
      for (const step of this.#plan.steps) {
        for (const settled of await this.#settle([step])) await this.#runStep(settled);
      }
    } catch (error) {
      return await this.#fail(explainFailure(error));
    }
    const main = this.#sent.at(-1);
    const warnings = await this.#takeAllowancesBack();
    return {
      ...this.#plan.report,
      status: 'success',
      ...(main ? { result: main.hash } : {}),
      transactions: this.#sent,
      ...(await sumArrived(this.#context, this.#logs)),
      ...warnings,
    };
  }

  async #simulate(): Promise<void> {
    const context = this.#context;
    const simulate = async () => simulateSteps(context, await settleApprovals(context, this.#plan.steps));
    await retryNetwork(simulate, context.networkRetryDelayMs);
  }

  #settle(steps: readonly Step[]): Promise<readonly Step[]> {
    return retryNetwork(() => settleApprovals(this.#context, steps), this.#context.networkRetryDelayMs);
  }

  /** @throws AgentKitError when the step was not mined, or failed. */
  async #runStep(step: Step): Promise<void> {
    const signed = await this.#send(step);
    if (step.approval) this.#granted.push(step.approval);
    const sent = this.#note(step, signed.txHash);
    const receipt = await this.#confirm(signed);
    const failure = await readFailure(this.#context, step, receipt);
    if (failure) throw failure;
    this.#logs.push(...receipt.logs);
    this.#open = null;
    this.#context.events.emit('transactionConfirmed', sent);
  }

  /**
   * The gas estimate is the last simulation, on the state after the earlier steps.
   * @throws AgentKitError when the step would fail, or the account cannot pay for it: then nothing was sent.
   */
  async #send({ to, data, value, label, failures }: Step): Promise<SignedTransaction> {
    const { client, account, sender, networkRetryDelayMs } = this.#context;
    const estimate = () =>
      client.estimateGas({ account, to, data, value }).catch((error: unknown) => {
        throw explainFailure(error, failures);
      });
    const sign = async () => sender.sign({ to, data, value, gas: await estimate() });
    try {
      return await signAndSend(
        {
          sign: () => retryNetwork(sign, networkRetryDelayMs),
          // When in doubt, it counts as sent.
          broadcast: (signed) => sender.broadcast(signed).catch(ignoreDoubt),
        },
        null,
      );
    } catch (error) {
      const failure = explainFailure(error);
      if (failure.code !== 'INSUFFICIENT_FUNDS') throw failure;
      const lack = `There are insufficient funds of the native token for the gas of: ${label}.`;
      throw new AgentKitError('INSUFFICIENT_FUNDS', lack);
    }
  }

  /** @throws AgentKitError `TIMEOUT` if it may still be mined, `NONCE_TAKEN` if it never will be. */
  async #confirm(signed: SignedTransaction): Promise<TransactionReceipt> {
    const { sender, patience, explorerUrl } = this.#context;
    const confirmation = await sender.confirm(signed, patience);
    switch (confirmation.outcome) {
      case 'success':
      case 'failed':
        return confirmation.receipt;
      case 'unknown':
        throw createTimeOut(signed.txHash, { ...patience, explorerUrl });
      case 'replaced':
        throw new AgentKitError(
          'NONCE_TAKEN',
          `Transaction ${signed.txHash} will not be mined: ${confirmation.by} was mined with its nonce.`,
          { details: { txHash: signed.txHash, by: confirmation.by } },
        );
    }
  }

  #note(step: Step, hash: SentTransaction['hash']): SentTransaction {
    const { explorerUrl, events } = this.#context;
    const sent: SentTransaction = Object.freeze({
      operation: this.#plan.operation,
      label: step.label,
      hash,
      explorerUrl: createExplorerUrl(explorerUrl, `tx/${hash}`),
    });
    this.#sent.push(sent);
    this.#open = sent;
    events.emit('transactionSubmitted', sent);
    return sent;
  }

  /** @throws the failure itself if nothing was sent. */
  async #fail(failure: AgentKitError): Promise<ToolResult> {
    if (this.#sent.length === 0) throw failure;
    // None if the earlier steps succeeded and the failed one was not sent.
    const failed = this.#open;
    const warnings = failure.code === 'TIMEOUT' ? this.#leaveAllowances() : await this.#takeAllowancesBack();
    const error = new AgentKitError(failure.code, failure.message, {
      suggestion: failure.suggestion,
      details: { ...failure.details, operation: this.#plan.operation, ...(failed ? { txHash: failed.hash } : {}) },
      cause: failure,
    });
    this.#context.events.emit('transactionFailed', error);
    return {
      ...this.#plan.report,
      status: failure.code === 'TIMEOUT' ? 'timeout' : 'failed',
      ...(failed ? { result: failed.hash } : {}),
      error: failure.message,
      code: failure.code,
      suggestion: failure.suggestion,
      transactions: this.#sent,
      ...warnings,
    };
  }

  /** A transaction with an unknown outcome may still give an allowance, or need one. */
  #leaveAllowances(): { warnings?: string[] } {
    if (this.#granted.length === 0) return {};
    const warnings = this.#granted.map(
      (approval) =>
        `The allowance of ${showAmount(approval)} for ${approval.spender} may stand, at the latest once ${this.#open?.hash} is mined. Revoke it by approve with the amount 0.`,
    );
    return { warnings };
  }

  /** Best effort: an allowance that could not be revoked is reported, but does not turn a success into a failure. */
  async #takeAllowancesBack(): Promise<{ warnings?: string[] }> {
    const { networkRetryDelayMs } = this.#context;
    const warnings: string[] = [];
    for (const approval of this.#granted.splice(0)) {
      try {
        const left = await retryNetwork(() => readAllowance(this.#context, approval), networkRetryDelayMs);
        if (left > 0n) await this.#runStep(createRevocation(approval));
      } catch (error) {
        warnings.push(
          `The allowance of ${showToken(approval.token)} for ${approval.spender} may still stand: ${explainFailure(error).message}`,
        );
      }
    }
    return warnings.length > 0 ? { warnings } : {};
  }
}

function ignoreDoubt(error: unknown): void {
  if (!(error instanceof PaymentError) || error.code !== 'wallet_unavailable') throw error;
}
