import { LuaScript } from '@tollgate/redis';

import abandonJob from '../scripts/job/abandon-job.lua';
import cancel from '../scripts/job/cancel.lua';
import claimKey from '../scripts/job/claim-key.lua';
import needOperator from '../scripts/job/need-operator.lua';
import noteWaiting from '../scripts/job/note-waiting.lua';
import putDetail from '../scripts/job/put-detail.lua';
import resumeJob from '../scripts/job/resume-job.lua';
import speedUp from '../scripts/job/speed-up.lua';
import submit from '../scripts/job/submit.lua';
import adopt from '../scripts/lane/adopt.lua';
import fillNonce from '../scripts/lane/fill-nonce.lua';
import guardLane from '../scripts/lane/guard-lane.lua';
import moveConsumer from '../scripts/lane/move-consumer.lua';
import noteGap from '../scripts/lane/note-gap.lua';
import pauseLane from '../scripts/lane/pause-lane.lua';
import releaseLane from '../scripts/lane/release-lane.lua';
import releaseLease from '../scripts/lane/release-lease.lua';
import renewLease from '../scripts/lane/renew-lease.lua';
import resumeLane from '../scripts/lane/resume-lane.lua';
import takeLease from '../scripts/lane/take-lease.lua';
import thaw from '../scripts/lane/thaw.lua';
import approve from '../scripts/plan/approve.lua';
import expireApproval from '../scripts/plan/expire-approval.lua';
import failPlan from '../scripts/plan/fail-plan.lua';
import putPlan from '../scripts/plan/put-plan.lua';
import reject from '../scripts/plan/reject.lua';
import reserveSpending from '../scripts/plan/reserve-spending.lua';
import skipStep from '../scripts/plan/skip-step.lua';
import takeLocks from '../scripts/plan/take-locks.lua';
import runCalls from '../scripts/run-calls.lua';
import amount from '../scripts/shared/amount.lua';
import calls from '../scripts/shared/calls.lua';
import discontinued from '../scripts/shared/discontinued.lua';
import job from '../scripts/shared/job.lua';
import lane from '../scripts/shared/lane.lua';
import markSent from '../scripts/shared/mark-sent.lua';
import worker from '../scripts/shared/worker.lua';
import dropCancel from '../scripts/step/drop-cancel.lua';
import endFill from '../scripts/step/end-fill.lua';
import failAttempt from '../scripts/step/fail-attempt.lua';
import failStep from '../scripts/step/fail-step.lua';
import finishSignature from '../scripts/step/finish-signature.lua';
import finishStep from '../scripts/step/finish-step.lua';
import markBroadcast from '../scripts/step/mark-broadcast.lua';
import markMined from '../scripts/step/mark-mined.lua';
import putAttempt from '../scripts/step/put-attempt.lua';
import putSignature from '../scripts/step/put-signature.lua';
import reportTransaction from '../scripts/step/report-transaction.lua';
import reserve from '../scripts/step/reserve.lua';
import unmine from '../scripts/step/unmine.lua';

/** The transitions, each with the files that it starts with. */
const transitions = {
  // The lane itself.
  adopt,
  guardLane,
  thaw,
  pauseLane,
  resumeLane,
  releaseLane,
  noteGap,
  fillNonce: discontinued + fillNonce,
  takeLease: discontinued + takeLease,
  renewLease: discontinued + renewLease,
  releaseLease,
  moveConsumer: discontinued + moveConsumer,
  // A job as a whole.
  submit,
  putDetail,
  cancel: discontinued + cancel,
  resumeJob,
  abandonJob,
  speedUp,
  needOperator: worker + needOperator,
  noteWaiting: worker + noteWaiting,
  // The plan of a step.
  putPlan: worker + putPlan,
  takeLocks: worker + takeLocks,
  reserveSpending: worker + reserveSpending,
  approve,
  reject: discontinued + reject,
  expireApproval: discontinued + worker + expireApproval,
  skipStep: worker + skipStep,
  failPlan: discontinued + worker + failPlan,
  // A step's transaction.
  reserve: worker + reserve,
  putAttempt: worker + putAttempt,
  failAttempt: worker + failAttempt,
  dropCancel: worker + dropCancel,
  markBroadcast: worker + markSent + markBroadcast,
  markMined: worker + markSent + markMined,
  unmine: worker + unmine,
  endFill: worker + endFill,
  reportTransaction: worker + reportTransaction,
  finishStep: worker + finishStep,
  failStep: worker + failStep,
  // A step's signature.
  putSignature: discontinued + worker + putSignature,
  finishSignature: worker + finishSignature,
} as const;

export type TransitionName = keyof typeof transitions;

const functions = Object.entries(transitions).map(([name, body]) => `transitions.${name} = function()\n${body}end\n`);
const laneProgram = [calls, lane, amount, job, ...functions, runCalls].join('');

export const JOURNAL_SCRIPTS = { claimKey: new LuaScript(claimKey), laneProgram: new LuaScript(laneProgram) };
