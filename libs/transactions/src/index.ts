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
export type { Journal } from './journal.js';
export type * from './transition.js';
