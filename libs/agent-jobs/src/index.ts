export {
  describeAbandoned,
  JOB_ABANDONED,
  JOB_NOT_FOUND,
  JOB_REJECTED,
  OWN_IS_MINED,
  problemOfRefusal,
  problemOfRetry,
  problemOfSubmit,
  refuseState,
  RESUMES_REFUND,
  SENDS_REFUND,
} from './decisions/refusals.js';
export { findRetryFault, retryJob } from './decisions/retry-job.js';
export {
  deriveEnqueueSecret,
  verifyAgentJobMessage,
  type MessageRefusalCode,
  type VerifiedMessage,
} from './message/verify-agent-job-message.js';
export {
  nameAllowance,
  readAllowanceCondition,
  TOKEN_POLICY,
  writeAllowanceCondition,
  type AllowanceScope,
} from './policy/token-policy.js';
export { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, openQueue, serveQueue, wakeQueueOf } from './queues/queues.js';
export { WakeQueues } from './queues/wake-queues.js';
export { describeInputs } from './request/job-inputs.js';
export { JobRequestError, parseJobRequest } from './request/parse-job-request.js';
export { describeJob, toAgentJobEvent } from './views/describe-job.js';
export { digestPlan, fingerprintOfJob, listCalls, plannedCall } from './views/digests.js';
export * from './views/job-answers.js';
export { nameLetter, parseLetterName } from './views/name-letter.js';
export { jobQuery, searchJobs, type JobQuery } from './views/search-jobs.js';
export { readStoredFloors, readStoredPlan, writeStoredPlan, type PlanFloors } from './views/stored-plan.js';
export {
  describeGap,
  explainNoFill,
  fillGap,
  mendGap,
  nameGap,
  nonceGap,
  type NonceGapView,
} from './wallets/nonce-gap.js';
export { listAccounts, type Account, type AccountSources } from './wallets/list-accounts.js';
export {
  checkTokens,
  findTokenProblems,
  WalletDirectory,
  walletLimit,
  type KnownToken,
  type WalletEntry,
  type WalletLimit,
} from './wallets/wallet-directory.js';
