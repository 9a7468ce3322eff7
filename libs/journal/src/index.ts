export { Chain } from './chain/chain.js';
export { crashPoint, type CrashPoint } from './crash-point.js';
export { isFinal, isOpen, isSigned, nextSignature } from './jobs/job.js';
export type {
  Attempt,
  JobEvent,
  JobFailure,
  JobRecord,
  JobState,
  JsonValue,
  LaneId,
  PlannedStep,
  SignedStep,
  StepRecord,
  WaitReason,
} from './jobs/job.js';
export { codeOfLane, createJobId, createLaneId, nameLane, readLaneName, RELAYER_FLEET } from './jobs/keys.js';
export { UnreadableJobError } from './jobs/parse-job.js';
export { PlanFailure, WalletEmptyError } from './jobs/ports.js';
export type {
  JobPlan,
  JobPlanner,
  JobQueue,
  JudgeSignature,
  JudgeStep,
  LaneSigner,
  PlanPolicy,
  ReportTransaction,
  SignatureVerdict,
  StepReceipt,
  StepVerdict,
  TransactionToSign,
} from './jobs/ports.js';
export type * from './jobs/transition.js';
export { DEFAULT_LANE_SETTINGS, type LaneSettings } from './lanes/lane-settings.js';
export { consumeOutbox } from './outbox/consume-outbox.js';
export { OutboxFollower, readEventId, type EventPage } from './outbox/outbox.js';
export { pause, Wakeable } from './pause.js';
export { LaneShare, nameProcess } from './runner/lane-lease.js';
export { LaneRunner, type LaneRunnerOptions } from './runner/lane-runner.js';
export { createKeySigner, readKeySigner } from './signer/create-key-signer.js';
export { describeTransaction, reportJobTransaction } from './steps/report-transaction.js';
export { acceptJob } from './store/accept-job.js';
export { copyLane, isKeyOfLane, isLaneKey, LANE_PATTERN, restoreLane, type CopiedKey } from './store/copy-lane.js';
export { Journal, type JournalOptions } from './store/journal.js';
export { isLeaseRunning, LaneDirectory, type ListedLane } from './store/lane-directory.js';
