import type { JobRecord } from '@tollgate/journal';
import type { AgentJobView, AgentStepView } from '@tollgate/protocol';

import { describeJob } from '../../../libs/agent-jobs/src/views/describe-job.js';
import { readStoredPlan } from '../../../libs/agent-jobs/src/views/stored-plan.js';
import { formatTable, formatTime } from '../shared/format-table.js';

const MAX_TEXT = 300;

/** @param unreadable ids of jobs whose records cannot be read */
export function formatJobs(jobs: readonly JobRecord[], unreadable: readonly string[]): string {
  return formatTable(
    ['JOB', 'STATE', 'OPERATION', 'WALLET', 'SUBMITTED', ''],
    [
      ...unreadable.map((id) => [id, 'unreadable', '', '', '', 'Look at its hash in Redis; it may still send.']),
      ...jobs.map((job) => [
        ...[job.id, job.state, job.operation, job.wallet, formatTime(job.submittedAtMs)],
        clean(job.failure?.message ?? job.waiting?.message ?? readStoredPlan(job)?.summary ?? ''),
      ]),
    ],
  );
}

/** For programs: the job in its owner's view, and the owner. */
export function toJobJson(job: JobRecord): AgentJobView & { keyId: string } {
  return { ...describeJob(job, {}), keyId: job.keyId };
}

/** Everything about one job. */
export function formatJob(job: JobRecord, explorerUrl: string | undefined): string {
  const view = describeJob(job, { explorerUrl: explorerUrl || undefined });
  const { failure, cancelRefused, waiting, approval, answer } = view;
  const toDo = failure ?? waiting ?? cancelRefused;
  const head = formatTable(
    ['JOB', view.id],
    [
      ['state', view.state],
      ['operation', view.operation],
      ['input', clean(JSON.stringify(view.input))],
      ['wallet', `${view.wallet} (${job.lane.address} on chain ${job.lane.chainId})`],
      ['API key', job.keyId],
      ['submitted', formatTime(job.submittedAtMs)],
      ['updated', formatTime(job.updatedAtMs)],
      ...(job.endedAtMs === null ? [] : [['ended', formatTime(job.endedAtMs)]]),
      ...(view.retryOf === null ? [] : [['tries again', view.retryOf]]),
      ...(approval === null ? [] : [['floors', approval.floorsHash]]),
      ...(approval === null ? [] : [['approved', approval.approvedBy === null ? 'no' : `by ${approval.approvedBy}`]]),
      ...(waiting === null ? [] : [['waits', clean(`since ${waiting.since}: ${waiting.code}: ${waiting.message}`)]]),
      ...(cancelRefused === null ? [] : [['not cancelled', clean(cancelRefused.message)]]),
      ...(failure === null ? [] : [['failure', clean(`${failure.code}: ${failure.message}`)]]),
      ...(toDo ? [['what to do', clean(toDo.suggestion)]] : []),
      ...(answer === null ? [] : [['answer', clean(`${answer.httpStatus} ${answer.body ?? ''}`)]]),
    ],
  );
  const preview = view.plan?.preview.split('\n').map((line) => `  ${clean(line)}`) ?? ['  nothing is planned yet'];
  return [head, `PLAN\n${preview.join('\n')}`, ...view.steps.map(formatStep)].join('\n\n');
}

function formatStep(step: AgentStepView, index: number): string {
  const attempts = step.attempts.map(({ kind, txHash, explorerUrl, signedAt, sentAt }) => [
    kind,
    explorerUrl ?? txHash,
    `signed ${signedAt}`,
    sentAt === null ? 'not taken by any RPC server yet' : `sent ${sentAt}`,
  ]);
  const title = `STEP ${index + 1}  ${step.state}  nonce ${step.nonce ?? '-'}  ${clean(step.label)}`;
  const mined = step.mined === null ? [] : [`  mined in block ${step.mined.blockNumber}: ${step.mined.txHash}`];
  const table = attempts.length === 0 ? [] : formatTable(['ATTEMPT', 'TRANSACTION', '', ''], attempts).split('\n');
  return [title, ...table.map((line) => `  ${line}`), ...mined].join('\n');
}

/** Removes control characters from text of a chain or a server, so that it cannot control the terminal. */
export function clean(text: string): string {
  const line = text.slice(0, MAX_TEXT * 2).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}
