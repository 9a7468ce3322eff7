export { isFinal, isOpen } from './job.js';
export type { Attempt, JobFailure, JobRecord, JobState, JsonValue, LaneId, PlannedStep, StepRecord } from './job.js';
export type { JobEvent } from './job-event.js';
export { eventsKey } from './keys.js';
export { Journal } from './journal.js';
export type { JournalOptions } from './journal.js';
export { codeOfLane, createJobId, RELAYER_FLEET } from './keys.js';
export { LaneDirectory } from './lane-directory.js';
export type { ListedLane } from './lane-directory.js';
export { createLaneId, nameLane, readLaneName } from './lane-id.js';
export { readEventId } from './outbox/outbox.js';
export { OutboxFollower } from './outbox/outbox-follower.js';
export { Wakeable } from './outbox/wakeable.js';
export type * from './transition.js';
export { acceptJob } from './accept-job.js';
export { crashPoint } from './crash-point.js';
export type { CrashPoint } from './crash-point.js';
export { createKeySigner } from './create-key-signer.js';
export { readKeySigner } from './read-key-signer.js';
export { DEFAULT_LANE_SETTINGS } from './lane-settings.js';
export type { LaneSettings } from './lane-settings.js';
export { LaneShare } from './lane-share.js';
export { pause } from './pause.js';
export { PlanFailure, WalletEmptyError } from './ports.js';
export type {
  JobPlan,
  JobPlanner,
  JobQueue,
  JudgeStep,
  LaneSigner,
  StepReceipt,
  StepVerdict,
  TransactionToSign,
} from './ports.js';
export { Chain } from './rpc/chain.js';
export { LaneRunner } from './lane-runner.js';
export type { LaneRunnerOptions } from './lane-runner.js';
