import { Body, Controller, HttpCode, Inject, Param, Post, Res, UseFilters, UsePipes } from '@nestjs/common';
import {
  agentJobView,
  describeAbandoned,
  JOB_NOT_FOUND,
  JOB_REJECTED,
  OWN_IS_MINED,
  problemOfRefusal,
  refuseState,
  RESUMES_REFUND,
  SENDS_REFUND,
} from '@tollgate/agent-jobs';
import { type ApiKey, CHECK_REQUEST, onlyFields, ProblemError } from '@tollgate/http';
import type { CancelResult, JobRecord, Transition } from '@tollgate/journal';
import type { AgentJobView } from '@tollgate/protocol';
import { READ_MINED_NONCE, type ReadMinedNonceReply } from '@tollgate/transport';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';

import { answerWith } from '../../docs/describe/openapi-parts.js';
import { ForApiKeys } from '../access/api-key-access.js';
import { CallerKey } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { AgentErrorFilter } from '../shared/agent-error.filter.js';
import { askWorker, PLANNING_UNAVAILABLE } from '../shared/ask-worker.js';
import { Jobs } from './jobs.js';

const ID = 'The id of the job.';

const FLOORS_HASH = "must be the hash of the bounds of the plan to approve, the job's `floorsHash`";

const approvalBody = onlyFields({
  floorsHash: z
    .string(FLOORS_HASH)
    .regex(/^[\w-]{1,128}$/, FLOORS_HASH)
    .describe('The hash of the bounds of the plan that was reviewed.'),
});

const NO_NONCE = { minedNonce: 0, isAttemptMined: false };
const TIMEOUT_MS = 5_000;

/** A decision of an operator; the status 409 is a job in another state. */
const ForOperators = (summary: string, conflict: string, problems: Record<number, string> = {}): MethodDecorator =>
  ForApiKeys(['operator'], {
    summary,
    id: ID,
    answers: { 200: answerWith('The current state of the job.', agentJobView) },
    problems: { ...problems, 404: 'No such job.', 409: conflict },
  });

/** Decisions of callers and operators about jobs. Each may be repeated; the response is the job's current state. */
@Controller('agent/jobs/:id')
@UseFilters(AgentErrorFilter)
@UsePipes(CHECK_REQUEST)
export class JobDecisionsController {
  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(Jobs) private readonly jobs: Jobs,
  ) {}

  @Post('cancel')
  @HttpCode(200)
  @ForApiKeys(['submit', 'operator'], {
    summary: 'Cancel a job',
    id: ID,
    answers: {
      200: answerWith('The job is cancelled.', agentJobView),
      202: answerWith('A transaction is in flight: whichever is mined decides.', agentJobView),
    },
    problems: { 404: 'This API key has no such job.', 409: 'It is too late to cancel.' },
  })
  async cancel(
    @CallerKey() caller: ApiKey,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    const result = await this.connections.journal.cancel(job.id);
    const view = await this.#showAfter(job, result);
    // A transaction is in flight, and whichever is mined decides whether the job was cancelled in time.
    if (result.outcome === 'cancelling') void reply.code(202);
    return view;
  }

  @Post('approve')
  @HttpCode(200)
  @ForOperators('Approve the reviewed plan', 'The plan has changed since.', { 400: 'The body is not valid.' })
  async approve(
    @CallerKey() caller: ApiKey,
    @Param('id') id: string,
    @Body({ schema: approvalBody }) { floorsHash }: { floorsHash: string },
  ): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    // Only the bookkeeper knows every key that asked for a refund.
    if (job.operation === 'refund') throw new ProblemError(refuseState(job.state, SENDS_REFUND));
    const { journal } = this.connections;
    return this.#showAfter(job, await journal.approve({ jobId: job.id, floorsHash, approvedBy: caller.id }));
  }

  @Post('reject')
  @HttpCode(200)
  @ForOperators('Reject a job that waits for approval', 'The job does not wait for approval.')
  async reject(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    return this.#showAfter(job, await this.connections.journal.reject({ jobId: job.id, failure: JOB_REJECTED }));
  }

  @Post('speed-up')
  @HttpCode(200)
  @ForOperators('Replace the transaction of a job by one with higher fees', 'No transaction of the job is in flight.')
  async speedUp(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    return this.#showAfter(job, await this.connections.journal.speedUp(job.id));
  }

  @Post('resume')
  @HttpCode(200)
  @ForOperators('Resume a job that needs an operator', 'The job has ended.')
  async resume(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    // Only the bookkeeper knows whether the refund is paid, also where the journal has lost that.
    if (job.operation === 'refund') throw new ProblemError(refuseState(job.state, RESUMES_REFUND));
    return this.#showAfter(job, await this.connections.journal.resumeJob(job.id));
  }

  /**
   * Refuses it if the job's nonce is unused on the chain, since abandoning the job would stop the wallet, and if the job's
   * own transaction used it, since the job would be reported as abandoned and submitted a second time.
   */
  @Post('abandon')
  @HttpCode(200)
  @ForOperators(
    'Abandon a job that needs an operator',
    'The nonce of the job is unused on the chain, or used by its own transaction, or the job needs no operator.',
  )
  async abandon(@CallerKey() caller: ApiKey, @Param('id') id: string): Promise<AgentJobView> {
    const job = await this.jobs.find(caller, id);
    const hasNonce = typeof job.steps[job.stepIndex]?.nonce === 'number';
    const { minedNonce, isAttemptMined } = hasNonce ? await readMinedNonce(this.connections, job) : NO_NONCE;
    if (isAttemptMined) throw new ProblemError(refuseState(job.state, OWN_IS_MINED));
    const { journal } = this.connections;
    return this.#showAfter(
      job,
      await journal.abandonJob({ jobId: job.id, minedNonce, failure: describeAbandoned(job) }),
    );
  }

  async #showAfter(job: JobRecord, result: Transition | CancelResult): Promise<AgentJobView> {
    const { journal, queue } = this.connections;
    const current = await journal.readJob(job.id);
    if (current === null) throw new ProblemError(JOB_NOT_FOUND);
    if (result.outcome === 'refused') throw new ProblemError(problemOfRefusal(result.reason, current));
    await queue.wake(job.id, job.lane);
    return this.jobs.describe(current);
  }
}

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
