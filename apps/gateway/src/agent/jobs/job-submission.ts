import { Inject, Injectable } from '@nestjs/common';
import {
  checkTokens,
  fingerprintOfJob,
  JOB_NOT_FOUND,
  refuseState,
  RETRIED_STATES,
  findTokenProblems,
} from '@tollgate/agent-jobs';
import { type ApiKey, mayUseWallet, type Problem, ProblemError, refuseRequest, PLAN_JOB } from '@tollgate/common';
import { acceptJob, type JsonValue, type LaneId, type SubmitRefusal, type SubmitResult } from '@tollgate/journal';
import type { AgentJobRequest, AgentJobView, AgentPlanView } from '@tollgate/protocol';

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

const REUSED: Problem = {
  status: 409,
  code: 'idempotency_key_reused',
  detail: 'This Idempotency-Key belongs to another request. Use a new key for a new job.',
};
const FORGOTTEN: Problem = {
  status: 410,
  code: 'job_forgotten',
  detail:
    'The job of this Idempotency-Key has ended and is no longer stored. Check the chain before you submit it again.',
};
const NOT_ADOPTED: Problem = {
  status: 503,
  code: 'wallet_not_adopted',
  detail: 'This wallet is not in use yet: an operator must adopt it first.',
  retryAfterMs: 60_000,
};
const FULL: Problem = {
  status: 503,
  code: 'wallet_full',
  detail: 'This wallet has reached its limit of open jobs. Wait for one to end, then send the same request again.',
  retryAfterMs: 10_000,
};

const OUTBOX_FULL: Problem = {
  status: 503,
  code: 'outbox_full',
  detail:
    'As many transactions of this wallet wait for the bookkeeper as may. Send the same request again once it has read some.',
  retryAfterMs: 10_000,
};
const UNAVAILABLE =
  'The worker cannot read the chain now, or too many dry runs of this wallet are running. Send the same request again later.';
const SETTINGS_DIFFER: Problem = {
  status: 503,
  code: 'settings_differ',
  detail: 'This gateway and the agent worker of this wallet have different values of BOOK. Give both the same one.',
  retryAfterMs: 10_000,
};
const REFUSALS: Readonly<Partial<Record<SubmitRefusal, Problem>>> = {
  ...{ lane_full: FULL, outbox_full: OUTBOX_FULL, settings_differ: SETTINGS_DIFFER },
};

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
    if (!RETRIED_STATES.includes(job.state)) {
      throw new ProblemError(refuseState(job.state, `The job is ${job.state}. Only a failed job can be retried.`));
    }
    const { operation, wallet, input } = this.jobs.describe(job);
    if (operation === 'refund') {
      throw new ProblemError(refuseState(job.state, 'A refund is repeated by the bookkeeper: tollgate refunds retry.'));
    }
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
    const { jobId, isReplay } = readAccepted(result);
    const job = await journal.readJob(jobId);
    // The job ended and was deleted since it was accepted.
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
      throw new ProblemError(REFUSALS[result.reason] ?? NOT_ADOPTED);
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
