import { AgentKitError, type OperationPlanner } from '@tollgate/agent-kit/planner';
import { PlanFailure, WalletEmptyError } from '@tollgate/transactions';

import { INTERNAL_ERROR, isPassing, toPlanFailure } from './explain-trouble.js';

/** With the lane's growing pauses between them, about half a minute. */
const MOST_TRIES = 6;

/** Decides what becomes of a job whose planning went wrong. */
export class PlanningTrouble {
  readonly #tries = new Map<string, number>();

  constructor(private readonly kit: Pick<OperationPlanner, 'canPayForGas'>) {}

  /**
   * @returns what to throw: PlanFailure, where the job cannot be done; WalletEmptyError; else the error itself, and the
   * job is planned again. What nobody has thought of is tried so often and no more, then it is a PlanFailure too.
   */
  async explain(jobId: string, error: unknown): Promise<unknown> {
    if (await this.#isWalletEmpty(error)) return new WalletEmptyError('The wallet cannot pay for gas.');
    if (isPassing(error)) return error;
    const failure = toPlanFailure(error);
    if (failure) {
      this.forget(jobId);
      return failure;
    }
    const tries = (this.#tries.get(jobId) ?? 0) + 1;
    this.#tries.set(jobId, tries);
    if (tries < MOST_TRIES) return error;
    this.forget(jobId);
    return new PlanFailure(INTERNAL_ERROR, { cause: error });
  }

  /** The job was planned. */
  forget(jobId: string): void {
    this.#tries.delete(jobId);
  }

  /** Too little for gas stops the wallet; too little for what the job wants to send is the job's own fault. */
  async #isWalletEmpty(error: unknown): Promise<boolean> {
    if (!(error instanceof AgentKitError) || error.code !== 'INSUFFICIENT_FUNDS') return false;
    const { feeWei, balanceWei } = error.details;
    if (typeof feeWei === 'string' && typeof balanceWei === 'string') return BigInt(feeWei) > BigInt(balanceWei);
    return !(await this.kit.canPayForGas());
  }
}
