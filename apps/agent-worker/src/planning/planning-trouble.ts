import { AgentKitError, type OperationPlanner } from '@tollgate/agent-kit/planner';
import { ChainUnavailableError } from '@tollgate/chain';
import { PlanFailure, WalletEmptyError, type JobFailure, type JobRecord, type WaitReason } from '@tollgate/journal';
import { StoreError } from '@tollgate/redis';
import { parseEther } from 'viem';

import { ORDINARY_GAS } from '../config/lane.environment.js';
import { NotNowError } from '../payments/not-now-error.js';

/** An error of the kit as shown to the job's owner; the kit has quoted and cut untrusted texts. */
export function toJobFailure({ code, message, suggestion, details }: AgentKitError): JobFailure {
  const { rpcHost } = details;
  // The submitters of jobs must not learn which RPC server the operator uses.
  const shown = typeof rpcHost === 'string' ? message.replace(` at ${rpcHost}`, '') : message;
  return { code, message: shown, suggestion };
}

/** Whether trying again a moment later may help: the job itself is not at fault. */
function isPassing(error: unknown): boolean {
  if (error instanceof AgentKitError) return error.code === 'NETWORK_ERROR';
  const kinds = [WalletEmptyError, ChainUnavailableError, StoreError];
  return kinds.some((kind) => error instanceof kind);
}

/** The failure that ends a job's planning for good; null when planning should be tried again. */
export function toPlanFailure(error: unknown): PlanFailure | null {
  if (error instanceof PlanFailure) return error;
  if (error instanceof AgentKitError && !isPassing(error))
    return new PlanFailure(toJobFailure(error), { cause: error });
  return null;
}

const RPC_CODES: Readonly<Record<string, WaitReason['code']>> = {
  refuses: 'rpc_refuses',
  unreachable: 'rpc_unreachable',
  lags: 'rpc_lags',
  chain_differs: 'chain_differs',
};

/** For what a job waits whose planning is tried again; null: the error does not say it. */
export function explainDelay(error: unknown): WaitReason | null {
  // The journal, or the wallet's pause, says for what this one waits.
  if (!(error instanceof AgentKitError) || error.code !== 'NETWORK_ERROR' || error instanceof NotNowError) return null;
  const { rpcTrouble } = error.details;
  return { ...toJobFailure(error), code: RPC_CODES[String(rpcTrouble)] ?? 'answer' };
}

/** For a job whose planning keeps failing for an unexpected reason. */
const INTERNAL_ERROR: JobFailure = {
  code: 'INTERNAL_ERROR',
  message: 'The job cannot be planned: planning it failed several times for an unexpected reason.',
  suggestion: "Look at the agent worker's log, then submit the job again under a new idempotency key.",
};

/** With the lane's growing delays between them, about half a minute. */
const MOST_TRIES = 6;

/**
 * How long a job may get no answer from a node that answers others: shorter if it holds a nonce, which blocks all later
 * ones.
 */
export interface Patience {
  waitingMs: number;
  holdingNonceMs: number;
}

const PATIENCE: Patience = { waitingMs: 600_000, holdingNonceMs: 60_000 };

/** A job without a failure for so long starts anew: it waited for something else, or was planned by another process. */
const FORGOTTEN_AFTER_MS = 5 * 60_000;
const MOST_REMEMBERED = 10_000;

interface Failures {
  tries: number;
  unansweredSinceMs: number | null;
  latestMs: number;
}

/** Decides what happens to a job whose planning failed. */
export class PlanningTrouble {
  /** By job, those with the latest failure last. */
  readonly #failures = new Map<string, Failures>();

  constructor(
    private readonly kit: Pick<OperationPlanner, 'canPayForGas' | 'client'>,
    private readonly patience: Patience = PATIENCE,
  ) {}

  /**
   * @returns the error to throw: PlanFailure, if the job cannot be done; WalletEmptyError; otherwise the error itself,
   * and the job is planned again. An unexpected error is retried a limited number of times and then becomes a
   * PlanFailure too.
   */
  async explain(job: Pick<JobRecord, 'id' | 'steps' | 'stepIndex'>, error: unknown): Promise<unknown> {
    if (error instanceof NotNowError) return error;
    if (await this.#isWalletEmpty(error)) return new WalletEmptyError('The wallet cannot pay for gas.');
    const failure = isPassing(error) ? await this.#giveUpWaiting(job, error) : toPlanFailure(error);
    if (failure) {
      this.forget(job.id);
      return failure;
    }
    if (isPassing(error)) return error;
    const failures = this.#recall(job.id);
    if (++failures.tries < MOST_TRIES) return error;
    this.forget(job.id);
    return new PlanFailure(INTERNAL_ERROR, { cause: error });
  }

  /** The job was planned successfully. */
  forget(jobId: string): void {
    this.#failures.delete(jobId);
  }

  #recall(jobId: string): Failures {
    const latestMs = performance.now();
    const known = this.#failures.get(jobId);
    const isRecent = known !== undefined && latestMs - known.latestMs < FORGOTTEN_AFTER_MS;
    const failures = { ...(isRecent ? known : { tries: 0, unansweredSinceMs: null }), latestMs };
    this.#failures.delete(jobId);
    this.#failures.set(jobId, failures);
    // A job that was cancelled, or that another process planned, is not forgotten otherwise.
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined && this.#failures.size > MOST_REMEMBERED) this.#failures.delete(oldest);
    return failures;
  }

  /** A node that answers other jobs but never this one refuses the job, whatever its error says. */
  async #giveUpWaiting(
    { id, steps, stepIndex }: Pick<JobRecord, 'id' | 'steps' | 'stepIndex'>,
    error: unknown,
  ): Promise<PlanFailure | null> {
    if (!(error instanceof AgentKitError)) return null;
    const failures = this.#recall(id);
    const sinceMs = (failures.unansweredSinceMs ??= failures.latestMs);
    const holdsNonce = (steps[stepIndex]?.nonce ?? null) !== null;
    const patienceMs = holdsNonce ? this.patience.holdingNonceMs : this.patience.waitingMs;
    if (performance.now() - sinceMs < patienceMs || !(await this.#doesNodeAnswer())) return null;
    return new PlanFailure(toJobFailure(error), { cause: error });
  }

  #doesNodeAnswer(): Promise<boolean> {
    return this.kit.client.getBlockNumber({ cacheTime: 0 }).then(
      () => true,
      () => false,
    );
  }

  /**
   * A wallet with too little for gas waits. Too little of what the job spends, or for a job that needs more gas than
   * others, is the job's own failure: the other jobs of the wallet must not wait for it.
   */
  async #isWalletEmpty(error: unknown): Promise<boolean> {
    if (!(error instanceof AgentKitError) || error.code !== 'INSUFFICIENT_FUNDS') return false;
    const { feeWei, balanceWei, balance } = error.details;
    // With the balance that the error reports: coin that has arrived since then must not make the job fail.
    if (typeof feeWei === 'string' && typeof balanceWei === 'string') {
      const isFeeTooHigh = BigInt(feeWei) > BigInt(balanceWei);
      return isFeeTooHigh && !(await this.kit.canPayForGas(ORDINARY_GAS, BigInt(balanceWei)));
    }
    return !(await this.kit.canPayForGas(undefined, typeof balance === 'string' ? parseEther(balance) : undefined));
  }
}
