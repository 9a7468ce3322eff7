import { AgentKitError } from '@tollgate/agent-kit/planner';
import {
  ChainUnavailableError,
  JournalError,
  JournalUnavailableError,
  PlanFailure,
  WalletEmptyError,
  type JobFailure,
} from '@tollgate/transactions';

/** An error of the kit as a job's owner sees it; the kit has quoted and cut what strangers wrote. */
export function toJobFailure({ code, message, suggestion, details }: AgentKitError): JobFailure {
  const { rpcHost } = details;
  // Which RPC server the operator uses is not for those who submit jobs.
  const shown = typeof rpcHost === 'string' ? message.replace(` at ${rpcHost}`, '') : message;
  return { code, message: shown, suggestion };
}

/** Whether the same question may be answered a moment later: nothing is wrong with the job. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AgentKitError) return error.code === 'NETWORK_ERROR';
  const kinds = [WalletEmptyError, ChainUnavailableError, JournalError, JournalUnavailableError];
  return kinds.some((kind) => error instanceof kind);
}

/** What planning ends with for good, where it does; null for what is to be asked again. */
export function toPlanFailure(error: unknown): PlanFailure | null {
  if (error instanceof PlanFailure) return error;
  if (error instanceof AgentKitError && !isPassing(error))
    return new PlanFailure(toJobFailure(error), { cause: error });
  return null;
}

/** For a job whose planning fails again and again in a way that nobody has thought of. */
export const INTERNAL_ERROR: JobFailure = {
  code: 'INTERNAL_ERROR',
  message: 'The job cannot be planned: planning it failed several times for an unexpected reason.',
  suggestion: "Look at the agent worker's log, then submit the job again under a new idempotency key.",
};
