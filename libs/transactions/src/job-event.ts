import { EVENT_TYPES, type Hex, type JobEventType } from '@tollgate/protocol';

import type { JobFailure, JobState, LaneId } from './job.js';

export { EVENT_TYPES };
export type { JobEventType };

/**
 * Something a job reports. Consumers get each at least once, always under the same id. Every final state is reported
 * by one event: FINAL by `jobCompleted`, all others by `transactionFailed`.
 */
export interface JobEvent {
  /** `jobId:state:sequence`. */
  id: string;
  /** Rises by one with every event of the lane. */
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
