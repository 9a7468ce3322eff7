import { Inject, Injectable } from '@nestjs/common';
import {
  describeJob,
  digestPlan,
  problemOfRefusal,
  problemOfRetry,
  JOB_NOT_FOUND,
  listCalls,
  refuseState,
  retryJob,
  searchJobs,
  type JobQuery,
} from '@tollgate/agent-jobs';
import { ProblemError, type ApiKey } from '@tollgate/http';
import { isFinal, type CancelResult, type JobRecord, type Transition } from '@tollgate/journal';
import type { OperatorJob, OperatorJobPage } from '@tollgate/operator-api';

import { BookHolder } from '../book/book-holder.js';
import { Journals } from '../journals/journals.js';

const UNKNOWN_REFUND = 'The book does not know this refund.';

/** Reads and decides about the jobs of all wallets, through the journal's own scripts. */
@Injectable()
export class OperatorJobs {
  constructor(
    @Inject(Journals) private readonly journals: Journals,
    @Inject(BookHolder) private readonly book: BookHolder,
  ) {}

  /** Newest first. */
  async list(query: JobQuery): Promise<OperatorJobPage> {
    const { jobs, unreadable, cursor } = await searchJobs(this.journals, query);
    for (const error of unreadable) this.journals.report(error);
    return {
      jobs: jobs.map(describe),
      ...(unreadable.length > 0 && { unreadable: unreadable.map(({ jobId }) => jobId) }),
      cursor,
    };
  }

  async read(id: string): Promise<OperatorJob> {
    const job = await this.#find(id);
    // All else is shown without the book too, as on a standby.
    const isDoubted = job.operation === 'refund' && job.state === 'AWAITING_APPROVAL';
    const refund = isDoubted ? await this.book.refunds.findOfJob(job) : null;
    return { ...describe(job), ...(refund !== null && { doubts: refund.doubts }) };
  }

  /** @param digest of the plan that the caller has reviewed */
  async approve({ id: approvedBy }: ApiKey, id: string, digest: string): Promise<OperatorJob> {
    const job = await this.#find(id);
    const planDigest = digestPlan(job);
    if (job.state === 'AWAITING_APPROVAL' && planDigest !== digest) throw planChanged(job.state, planDigest);
    await this.#assertNotAsker(job, approvedBy);
    await this.#assertMayPay(job);
    const floorsHash = job.approval?.floorsHash ?? '';
    const result = await this.journals.journal.approve({ jobId: job.id, floorsHash, approvedBy });
    if (result.outcome === 'refused' && result.reason === 'floors_changed') {
      throw planChanged(job.state, digestPlan(await this.#find(id)));
    }
    return this.#showAfter(job, result);
  }

  /**
   * Lets a job that needs an operator go on; not one of a refund that is paid by another transaction, or may be by another
   * job, unless this one sends no transfer any more.
   */
  async resume(id: string): Promise<OperatorJob> {
    const job = await this.#find(id);
    await this.#assertMayPay(job);
    return this.#showAfter(job, await this.journals.journal.resumeJob(job.id));
  }

  async cancel(id: string): Promise<OperatorJob> {
    const job = await this.#find(id);
    return this.#showAfter(job, await this.journals.journal.cancel(job.id));
  }

  /** Submits the request of a failed job again, as a new job for the same API key; returns that one. */
  async retry(id: string): Promise<OperatorJob> {
    const job = await this.#find(id);
    const result = await retryJob(this.journals, job);
    if (result.outcome !== 'refused') return describe(result.job);
    // The caller gave no key that it could change.
    const reason = result.reason === 'conflict' ? 'forgotten' : result.reason;
    throw new ProblemError(problemOfRetry(reason, job));
  }

  /** A refund may have been asked for with several keys, of which its job names the last. */
  async #assertNotAsker(job: JobRecord, keyId: string): Promise<void> {
    if (job.operation !== 'refund') return;
    const refund = await this.book.refunds.findOfJob(job);
    if (refund === null) throw new ProblemError(refuseState(job.state, UNKNOWN_REFUND));
    if (refund.askedBy.includes(keyId)) throw new ProblemError(problemOfRefusal('own_job', job));
  }

  /** After a loss of Redis, the journal may not know what was sent and decided before it. */
  async #assertMayPay(job: JobRecord): Promise<void> {
    // The journal refuses what has ended.
    if (job.operation !== 'refund' || isFinal(job.state)) return;
    const fault = await this.book.refunds.findPayFault(job);
    if (fault !== null) throw new ProblemError(refuseState(job.state, fault));
  }

  async #find(id: string): Promise<JobRecord> {
    const job = await this.journals.journal.readJob(id);
    if (job === null) throw new ProblemError(JOB_NOT_FOUND);
    return job;
  }

  async #showAfter(job: JobRecord, result: Transition | CancelResult): Promise<OperatorJob> {
    const current = await this.#find(job.id);
    if (result.outcome === 'refused') throw new ProblemError(problemOfRefusal(result.reason, current));
    return describe(current);
  }
}

function describe(job: JobRecord): OperatorJob {
  const { keyId, lane } = job;
  return { ...describeJob(job, {}), keyId, ...lane, calls: listCalls(job), planDigest: digestPlan(job) };
}

function planChanged(state: string, planDigest: string | null): ProblemError {
  const detail = 'The plan is another one than you reviewed. Review it again, and approve it by its `planDigest`.';
  return new ProblemError({ status: 409, code: 'plan_changed', detail, members: { state, planDigest } });
}
