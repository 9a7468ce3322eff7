import { Inject, Injectable } from '@nestjs/common';
import {
  checkTokens,
  fingerprintOfJob,
  findRetryFault,
  findTokenProblems,
  JOB_NOT_FOUND,
  problemOfRetry,
  problemOfSubmit,
} from '@tollgate/agent-jobs';
import { type ApiKey, mayUseWallet, ProblemError, refuseRequest } from '@tollgate/http';
import { acceptJob, type JsonValue, type LaneId } from '@tollgate/journal';
import type { AgentJobRequest, AgentJobView, AgentPlanView } from '@tollgate/protocol';
import { PLAN_JOB } from '@tollgate/transport';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../shared/ask-worker.js';
import { Jobs } from './jobs.js';

export interface Submission {
  readonly request: AgentJobRequest;
  readonly idempotencyKey: string;
  /** The id of the job that this one repeats. */
  readonly retryOf?: string;
}

export interface Submitted {
  readonly job: AgentJobView;
  /** Whether an earlier request with the same key created the job. */
  readonly isReplay: boolean;
}

/** When a worker has the wallet and answers, but cannot plan. */
const UNAVAILABLE =
  'The worker cannot read the chain now, or too many dry runs of this wallet are running. Send the same request again later.';

/** Accepts jobs: writes each to the journal, wakes a worker, then responds. */
@Injectable()
export class JobSubmission {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(Jobs) private readonly jobs: Jobs,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {}

  /**
   * Has a worker of the wallet plan a job. Nothing is stored or sent for it.
   * @throws ProblemError if the job cannot be done, or no worker can plan it now
   */
  async plan(caller: ApiKey, request: AgentJobRequest): Promise<AgentPlanView> {
    await findWallet(this.connections, caller, request.wallet);
    const tokens = await this.connections.within(this.connections.wallets.findTokens(request.wallet));
    const problems = tokens ? findTokenProblems(request, tokens) : [];
    if (problems.length > 0) throw refuseRequest(problems);
    const timeoutMs = this.environment.agentJobs.agentPlanTimeoutMs;
    const question = { pattern: PLAN_JOB, data: request, timeoutMs, wallet: request.wallet } as const;
    const reply = await askWorker(this.connections, question);
    switch (reply.outcome) {
      case 'planned':
        return reply.plan;
      case 'refused': {
        const { failure } = reply;
        throw new ProblemError({ status: 422, code: 'plan_refused', detail: failure.message, members: { failure } });
      }
      case 'unavailable':
        throw new ProblemError({ ...PLANNING_UNAVAILABLE, detail: UNAVAILABLE });
    }
  }

  /** Submits a failed job again, as a new job that refers to it. */
  async retry(caller: ApiKey, jobId: string, idempotencyKey: string): Promise<Submitted> {
    const job = await this.jobs.find(caller, jobId);
    if (job.keyId !== caller.id) throw new ProblemError(JOB_NOT_FOUND);
    const fault = findRetryFault(job);
    const { operation, wallet, input } = this.jobs.describe(job);
    if (fault !== null || operation === 'refund' || operation === 'fillNonce')
      throw new ProblemError(problemOfRetry(fault ?? 'refund', job));
    return this.submit(caller, { request: { operation, wallet, input }, idempotencyKey, retryOf: job.id });
  }

  /** @throws ProblemError if the job is not accepted; StoreUnavailableError if that is unknown */
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
      fingerprint: fingerprintOfJob(request, retryOf),
      ...(retryOf !== undefined && { retryOf }),
    });
    if (!('jobId' in result)) {
      const reason = result.outcome === 'refused' ? result.reason : result.outcome;
      throw new ProblemError(problemOfSubmit(reason, request.wallet));
    }
    const job = await journal.readJob(result.jobId);
    // The job ended and was deleted since it was accepted.
    if (job === null) throw new ProblemError(problemOfSubmit('forgotten', request.wallet));
    return { job: this.jobs.describe(job), isReplay: result.outcome === 'known' };
  }
}

/**
 * The account behind a wallet's name.
 * @throws ProblemError if the caller may not use the wallet, or no worker has it
 */
async function findWallet(connections: AgentConnections, caller: ApiKey, wallet: string): Promise<LaneId> {
  // Checked first, so that a caller cannot find out which wallets exist.
  if (!mayUseWallet(caller, wallet)) {
    throw new ProblemError({
      status: 403,
      code: 'wallet_not_allowed',
      detail: `This API key may not use the wallet "${wallet}", only ${caller.wallets.join(', ') || 'none'}.`,
    });
  }
  const entry = await connections.within(connections.wallets.find(wallet));
  if (entry) return entry.lane;
  throw new ProblemError({ status: 422, code: 'wallet_unknown', detail: `No worker has a wallet named "${wallet}".` });
}
