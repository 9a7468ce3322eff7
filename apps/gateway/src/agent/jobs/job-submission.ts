import { Inject, Injectable } from '@nestjs/common';
import { checkTokens, fingerprintOf } from '@tollgate/agent-jobs';
import { ProblemError, type ApiKey, type Problem } from '@tollgate/common';
import type { AgentJobRequest, AgentJobView, JobState } from '@tollgate/protocol';
import { acceptJob, type JsonValue, type SubmitResult } from '@tollgate/transactions';

import { AgentConnections } from '../agent-connections.js';
import { refuseRequest } from '../request-invalid.js';
import { findWallet } from './find-wallet.js';
import { JOB_NOT_FOUND, Jobs } from './jobs.js';

export interface Submission {
  readonly request: AgentJobRequest;
  readonly idempotencyKey: string;
  /** The job that this one repeats. */
  readonly retryOf?: string;
}

export interface Submitted {
  readonly job: AgentJobView;
  /** An earlier request with the same key made the job. */
  readonly isReplay: boolean;
}

const RETRIED_STATES: readonly JobState[] = ['REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'];

const REUSED: Problem = {
  status: 409,
  code: 'idempotency_key_reused',
  detail: 'This Idempotency-Key belongs to another request.',
};
const FORGOTTEN: Problem = {
  status: 410,
  code: 'job_forgotten',
  detail: 'The job of this Idempotency-Key ended and is forgotten. Look at the chain before it is submitted again.',
};
const NOT_ADOPTED: Problem = {
  status: 503,
  code: 'wallet_not_adopted',
  detail: 'This wallet is not in use yet: an operator has to adopt it.',
  retryAfterMs: 60_000,
};
const FULL: Problem = {
  status: 503,
  code: 'wallet_full',
  detail: 'As many jobs of this wallet are open as may be.',
  retryAfterMs: 10_000,
};

/** Takes jobs in: journaled first, then woken, then told of. */
@Injectable()
export class JobSubmission {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(Jobs) private readonly jobs: Jobs,
  ) {}

  /** Submits again what a job asked that ended without being done; the new job names it. */
  async retry(caller: ApiKey, jobId: string, idempotencyKey: string): Promise<Submitted> {
    const job = await this.jobs.find(caller, jobId);
    if (job.keyId !== caller.id) throw new ProblemError(JOB_NOT_FOUND);
    if (!RETRIED_STATES.includes(job.state)) {
      const detail = `The job is ${job.state}: only one that has failed can be tried again.`;
      throw new ProblemError({ status: 409, code: 'job_state', detail, members: { state: job.state } });
    }
    const { operation, wallet, input } = this.jobs.describe(job);
    return this.submit(caller, { request: { operation, wallet, input }, idempotencyKey, retryOf: job.id });
  }

  /** @throws ProblemError where the job is not taken; JournalUnavailableError where that is unknown */
  async submit(caller: ApiKey, { request, idempotencyKey, retryOf }: Submission): Promise<Submitted> {
    const lane = await findWallet(this.connections, caller, request.wallet);
    const { journal, wallets: directory } = this.connections;
    const checked = { request, keyId: caller.id, idempotencyKey };
    const problems = await this.connections.within(checkTokens({ directory, journal }, checked));
    if (problems.length > 0) throw refuseRequest(problems);
    const result = await acceptJob(this.connections, {
      lane,
      operation: request.operation,
      wallet: request.wallet,
      // Parsed from JSON, so it is JSON.
      input: request.input as JsonValue,
      keyId: caller.id,
      idempotencyKey,
      fingerprint: fingerprintOf(request, retryOf),
      ...(retryOf !== undefined && { retryOf }),
    });
    const { jobId, isReplay } = readAccepted(result);
    const job = await journal.readJob(jobId);
    // It ended, and was forgotten, since it was accepted.
    if (job === null) throw new ProblemError(FORGOTTEN);
    return { job: this.jobs.describe(job), isReplay };
  }
}

function readAccepted(result: SubmitResult): { jobId: string; isReplay: boolean } {
  switch (result.outcome) {
    case 'accepted':
    case 'known':
      return { jobId: result.jobId, isReplay: result.outcome === 'known' };
    case 'conflict':
      throw new ProblemError(REUSED);
    case 'forgotten':
      throw new ProblemError(FORGOTTEN);
    case 'refused':
      throw new ProblemError(result.reason === 'lane_full' ? FULL : NOT_ADOPTED);
  }
}
