import type { ScriptArgument } from '@tollgate/redis';

import { jobKey, laneKey } from '../jobs/keys.js';
import { findReply, readReserve, readTransition } from '../jobs/read-reply.js';
import type { LaunchRequest, LaunchResult } from '../jobs/transition.js';
import type { TransitionName } from '../transitions/journal-scripts.js';
import type { TransitionRunner } from '../transitions/transition-runner.js';
import { listAttempt, listPlan } from './step-journal.js';
import { listNamed, readSubmit, type SubmitTerms } from './submit-job.js';

/**
 * `submit`, `putPlan`, `reserve` and `putAttempt` of a job's first step in one write. Transitions after a refusal are
 * not made; those before it stand, and the job continues from there like any other.
 */
export async function launchNamedJob(
  runner: TransitionRunner,
  request: LaunchRequest,
  terms: Pick<SubmitTerms, 'maxOpenJobs'>,
): Promise<LaunchResult> {
  const { lane, jobId, token, maxInFlight, nonce, attempt } = request;
  const write = [token, 0];
  const calls: [TransitionName, ScriptArgument[]][] = [
    ['submit', listNamed(request, terms)],
    ['putPlan', [...write, ...listPlan({ ...request, needsApproval: false })]],
    ['reserve', [...write, maxInFlight]],
    ['putAttempt', [...write, ...listAttempt({ expectedAttempts: 0, nonce, attempt })]],
  ];
  const job = jobKey(lane, jobId);
  const chain = calls.map(([name, args]) => ({ name, job, args }));
  const replyTo = findReply(
    calls.map(([name]) => name),
    await runner.runChain(laneKey(lane), chain),
  );
  const [reserved, stored] = [replyTo('reserve'), replyTo('putAttempt')];
  return {
    submitted: readSubmit(replyTo('submit') ?? []),
    reserved: reserved && readReserve(reserved),
    stored: stored && readTransition(stored),
  };
}
