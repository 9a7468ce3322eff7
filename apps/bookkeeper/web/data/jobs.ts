import type { AgentJobView } from '@tollgate/protocol';

/** A call of a plan as it will be sent. */
interface PlannedCall {
  readonly to: string;
  readonly valueWei: string;
  readonly data: string;
}

/** A job as `GET /operator/jobs` shows it. */
export interface OperatorJobView extends AgentJobView {
  readonly keyId: string;
  readonly chainId: number;
  readonly address: string;
  readonly calls: readonly PlannedCall[];
  readonly planDigest: string | null;
}

export interface OperatorJobsPage {
  readonly jobs: readonly OperatorJobView[];
  readonly cursor: string | null;
}

/** Jobs change in the journal, of which the book's events say nothing. */
export const JOBS_EVERY_MS = 2_000;
