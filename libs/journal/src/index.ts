export { isFinal, isOpen } from './jobs/job.js';
export type {
  Attempt,
  JobFailure,
  JobRecord,
  JobState,
  JsonValue,
  LaneId,
  PlannedStep,
  StepRecord,
} from './jobs/job.js';
export type { JobEvent } from './jobs/job-event.js';
export { eventsKey } from './jobs/keys.js';
export { Journal } from './store/journal.js';
export type { JournalOptions } from './store/journal.js';
export { codeOfLane, createJobId, RELAYER_FLEET } from './jobs/keys.js';
export { copyLane, isKeyOfLane, isLaneKey, LANE_PATTERN, restoreLane } from './store/copy-lane.js';
export type { CopiedKey } from './store/copy-lane.js';
export { LaneDirectory } from './store/lane-directory.js';
export type { ListedLane } from './store/lane-directory.js';
export { createLaneId, nameLane, readLaneName } from './jobs/keys.js';
export { readEventId } from './outbox/outbox.js';
export { OutboxFollower } from './outbox/outbox.js';
export { Wakeable } from './outbox/wakeable.js';
export type * from './jobs/transition.js';
export { acceptJob } from './store/accept-job.js';
export { crashPoint } from './crash-point.js';
export type { CrashPoint } from './crash-point.js';
export { createKeySigner, readKeySigner } from './signer/create-key-signer.js';
export { DEFAULT_LANE_SETTINGS } from './lanes/lane-settings.js';
export type { LaneSettings } from './lanes/lane-settings.js';
export { LaneShare } from './runner/lane-share.js';
export { pause } from './pause.js';
export { PlanFailure, WalletEmptyError } from './jobs/ports.js';
export type {
  JobPlan,
  JobPlanner,
  JobQueue,
  JudgeStep,
  LaneSigner,
  ReportTransaction,
  StepReceipt,
  StepVerdict,
  TransactionToSign,
} from './jobs/ports.js';
export { Chain } from './chain/chain.js';
export { describeTransaction, reportJobTransaction } from './steps/report-transaction.js';
export { LaneRunner } from './runner/lane-runner.js';
export type { LaneRunnerOptions } from './runner/lane-runner.js';
