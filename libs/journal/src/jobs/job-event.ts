import { EVENT_TYPES, type Hex, type JobEventType } from '@tollgate/protocol';

import type { JobFailure, JobState, LaneId } from './job.js';

export { EVENT_TYPES };
export type { JobEventType };

/**
 * An event of a job. Each consumer receives it at least once, always with the same id. Every final state is reported by
 * one event: FINAL by `jobCompleted`, all others by `transactionFailed`.
 */
export interface JobEvent {
  /** `jobId:state:sequence`. */
  id: string;
  /** Increases by one with every event of the lane. */
  sequence: number;
  type: JobEventType;
  jobId: string;
  state: JobState;
  operation: string;
  lane: LaneId;
  /** The API key that submitted the job. */
  keyId: string;
  atMs: number;
  txHash?: Hex;
  error?: JobFailure;
}
