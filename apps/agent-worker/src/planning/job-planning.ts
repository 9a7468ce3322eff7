import type { KnownToken, WalletLimit } from '@tollgate/agent-jobs';
import type { PlanJobReply, PlanJobRequest } from '@tollgate/common';
import type { JobPlanner, JudgeStep } from '@tollgate/journal';

/**
 * Everything that a wallet's lane and the dry runs need to know about operations; `WalletPlanner` implements it for one
 * wallet.
 */
export interface JobPlanning extends JobPlanner {
  undo: NonNullable<JobPlanner['undo']>;
  judgeStep: JudgeStep;
  /** The tokens that jobs may refer to by symbol instead of by address. */
  readTokens(): Promise<readonly KnownToken[]>;
  /** The limits of the wallet's policy, token by token. */
  readLimits(): Promise<readonly WalletLimit[]>;
  /** The effect of a job, without writing or sending anything. Never throws. */
  dryRun(request: Pick<PlanJobRequest, 'operation' | 'input'>): Promise<PlanJobReply>;
}
