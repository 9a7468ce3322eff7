import type { KnownToken, PlanJobReply, PlanJobRequest } from '@tollgate/agent-jobs';
import type { JobPlanner, JudgeStep } from '@tollgate/transactions';

/** All that a wallet's lane and the dry runs need to know of operations; `WalletPlanner` does it for one wallet. */
export interface JobPlanning extends JobPlanner {
  undo: NonNullable<JobPlanner['undo']>;
  judgeStep: JudgeStep;
  /** Which tokens jobs may name otherwise than by their addresses. */
  readTokens(): Promise<readonly KnownToken[]>;
  /** What a job would do, without writing or sending anything. Never throws. */
  dryRun(request: Pick<PlanJobRequest, 'operation' | 'input'>): Promise<PlanJobReply>;
}
