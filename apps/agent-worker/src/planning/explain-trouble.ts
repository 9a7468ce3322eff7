import { AgentKitError } from '@tollgate/agent-kit/planner';
import { ChainUnavailableError } from '@tollgate/chain';
import { PlanFailure, WalletEmptyError, type JobFailure } from '@tollgate/journal';
import { StoreError } from '@tollgate/redis';

/** An error of the kit as shown to the job's owner; the kit has quoted and cut untrusted texts. */
export function toJobFailure({ code, message, suggestion, details }: AgentKitError): JobFailure {
  const { rpcHost } = details;
  // The submitters of jobs must not learn which RPC server the operator uses.
  const shown = typeof rpcHost === 'string' ? message.replace(` at ${rpcHost}`, '') : message;
  return { code, message: shown, suggestion };
}

/** Whether trying again a moment later may help: the job itself is not at fault. */
export function isPassing(error: unknown): boolean {
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

/** For a job whose planning keeps failing for an unexpected reason. */
export const INTERNAL_ERROR: JobFailure = {
  code: 'INTERNAL_ERROR',
  message: 'The job cannot be planned: planning it failed several times for an unexpected reason.',
  suggestion: "Look at the agent worker's log, then submit the job again under a new idempotency key.",
};
