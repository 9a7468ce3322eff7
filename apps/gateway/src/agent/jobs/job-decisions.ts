import { Inject, Injectable } from '@nestjs/common';
import { problemOfRefusal, JOB_NOT_FOUND, refuseState } from '@tollgate/agent-jobs';
import { ProblemError, READ_MINED_NONCE, type ApiKey, type ReadMinedNonceReply } from '@tollgate/common';
import type { CancelResult, JobRecord, Transition } from '@tollgate/journal';
import type { AgentJobView, JobFailure } from '@tollgate/protocol';

import { AgentConnections } from '../shared/agent-connections.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../shared/ask-worker.js';
import { Jobs } from './jobs.js';

const REJECTED: JobFailure = {
  code: 'JOB_REJECTED',
  message: 'An operator rejected the job.',
  suggestion: 'Ask the operator what would be approved, and submit that as a new job.',
};
const ABANDONED: JobFailure = {
  code: 'JOB_ABANDONED',
  message: 'An operator abandoned the job.',
  suggestion: 'Check what its transactions did before you submit it again.',
};

const SENDS_REFUND =
  'This job sends a refund, which may have been asked for with several keys. Approve it at the bookkeeper: POST /operator/jobs/<id>/approve.';
const NO_NONCE = { minedNonce: 0, isAttemptMined: false };
const OWN_IS_MINED =
  "The job's own transaction is mined. Resume the job, so that it ends with the result of that transaction.";

/** Decisions of callers and operators about jobs. Each may be repeated; the response is the job's current state. */
@Injectable()
export class JobDecisions {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(Jobs) private readonly jobs: Jobs,
  ) {}

  /** `isUnderWay`: a transaction is in flight, and whichever is mined decides whether the job was cancelled in time. */
  async cancel(caller: ApiKey, jobId: string): Promise<{ job: AgentJobView; isUnderWay: boolean }> {
    const job = await this.jobs.find(caller, jobId);
    const result = await this.connections.journal.cancel(job.id);
    return { job: await this.#settle(job, result), isUnderWay: result.outcome === 'cancelling' };
  }

  /**
   * @param floorsHash hash of the plan that the caller has seen
   * @throws ProblemError for a refund: only the bookkeeper knows every key that asked for it
   */
  async approve(caller: ApiKey, jobId: string, floorsHash: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, jobId);
    if (job.operation === 'refund') throw new ProblemError(refuseState(job.state, SENDS_REFUND));
    const { journal } = this.connections;
    return this.#settle(job, await journal.approve({ jobId: job.id, floorsHash, approvedBy: caller.id }));
  }

  async reject(caller: ApiKey, jobId: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, jobId);
    return this.#settle(job, await this.connections.journal.reject({ jobId: job.id, failure: REJECTED }));
  }

  async resume(caller: ApiKey, jobId: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, jobId);
    return this.#settle(job, await this.connections.journal.resumeJob(job.id));
  }

  /**
   * @throws ProblemError if the job's nonce is unused on the chain, since abandoning the job would stop the wallet, or
   * if the job's own transaction used it, since the job would be reported as abandoned and submitted a second time
   */
  async abandon(caller: ApiKey, jobId: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, jobId);
    const hasNonce = typeof job.steps[job.stepIndex]?.nonce === 'number';
    const { minedNonce, isAttemptMined } = hasNonce ? await readMinedNonce(this.connections, job) : NO_NONCE;
    if (isAttemptMined) throw new ProblemError(refuseState(job.state, OWN_IS_MINED));
    return this.#settle(
      job,
      await this.connections.journal.abandonJob({ jobId: job.id, minedNonce, failure: ABANDONED }),
    );
  }

  async #settle(job: JobRecord, result: Transition | CancelResult): Promise<AgentJobView> {
    const { journal, queue } = this.connections;
    const current = await journal.readJob(job.id);
    if (current === null) throw new ProblemError(JOB_NOT_FOUND);
    if (result.outcome === 'refused') throw new ProblemError(problemOfRefusal(result.reason, current));
    await queue.wake(job.id, job.lane);
    return this.jobs.describe(current);
  }
}

const TIMEOUT_MS = 5_000;

type MinedNonce = Omit<Extract<ReadMinedNonceReply, { outcome: 'read' }>, 'outcome'>;

/**
 * Reads the number of mined transactions of the job's account: all lower nonces are used. `isAttemptMined`: the job's
 * own transaction is mined, which the journal has not recorded yet.
 */
async function readMinedNonce(connections: AgentConnections, job: JobRecord): Promise<MinedNonce> {
  const step = job.steps[job.stepIndex];
  const attempts = step && step.mined === null ? step.attempts.map(({ hash }) => hash) : [];
  const question = { pattern: READ_MINED_NONCE, data: { ...job.lane, attempts }, timeoutMs: TIMEOUT_MS } as const;
  const reply = await askWorker(connections, question);
  if (reply.outcome === 'unavailable') throw new ProblemError(PLANNING_UNAVAILABLE);
  return reply;
}
