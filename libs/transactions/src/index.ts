export { FINAL_STATES, isFinal, isOpen, JOB_STATES, OPEN_STATES } from './job.js';
export type {
  AllowanceHolds,
  Attempt,
  Ending,
  FinalState,
  JobApproval,
  JobFailure,
  JobRecord,
  JobState,
  JsonValue,
  LaneId,
  MinedAttempt,
  OpenState,
  PlannedStep,
  StepRecord,
} from './job.js';
export { EVENT_TYPES } from './job-event.js';
export type { JobEvent, JobEventType } from './job-event.js';
export { Journal } from './journal.js';
export type { JournalOptions } from './journal.js';
export { JournalError, JournalUnavailableError } from './journal-error.js';
export { createLaneId, nameLane, readLaneName } from './lane-id.js';
export { holdLane } from './lane-lease.js';
export type { HeldLane, LaneLeaseOptions } from './lane-lease.js';
export { Outbox, readEventId } from './outbox.js';
export type * from './transition.js';
