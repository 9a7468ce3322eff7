import { Inject, Injectable } from '@nestjs/common';
import {
  describeJob,
  digestPlan,
  problemOfRefusal,
  problemOfRetry,
  JOB_NOT_FOUND,
  listCalls,
  nameRefundJob,
  readRefundJob,
  refuseState,
  retryJob,
  searchJobs,
  type JobQuery,
  type PlannedCall,
} from '@tollgate/agent-jobs';
import { readRefund, type Refund } from '@tollgate/book';
import { ProblemError, type ApiKey } from '@tollgate/common';
import { isFinal, UnreadableJobError, type CancelResult, type JobRecord, type Transition } from '@tollgate/journal';
import type { AgentJobView } from '@tollgate/protocol';

import { BookHolder } from '../book/book-holder.js';
import { SellerChain } from '../chain/seller-chain.js';
import { Journals } from '../journals/journals.js';
import { hasFailed, listHashes } from '../refunds/refund-attempt.js';
import { findBookedRefund, hasPaidAnother } from '../refunds/refund-ledger.js';

const UNKNOWN_REFUND = 'The book does not know this refund.';
const END_IT = 'Cancel this job, or abandon it (`tollgate jobs abandon`) where it needs an operator.';
const NAME_IT = 'cancel this one, and name its transaction (`tollgate refunds paid`).';

/** A job as operators see it. */
export interface OperatorJob extends AgentJobView {
  /** The API key that submitted it. */
  readonly keyId: string;
  readonly chainId: number;
  readonly address: string;
  /** Its plan as it would be sent now, call by call; empty before it is planned. */
  readonly calls: readonly PlannedCall[];
  /** What an approval names. Null: the job needs none, or is not planned yet. */
  readonly planDigest: string | null;
  /** Why a refund needs the approval; only of one that waits for it, and not in a list. */
  readonly doubts?: readonly string[];
}

export interface OperatorJobPage {
  readonly jobs: readonly OperatorJob[];
  /**
   * Ids of jobs whose records cannot be read, whatever state and operation were asked for, unless they ended in another
   * state; absent when there are none.
   */
  readonly unreadable?: readonly string[];
  /** Continues after this page; null when it was the last. A page may be short, or empty, and still have one. */
  readonly cursor: string | null;
}

/** Reads and decides about the jobs of all wallets, through the journal's own scripts. */
@Injectable()
export class OperatorJobs {
  constructor(
    @Inject(Journals) private readonly journals: Journals,
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(SellerChain) private readonly chain: SellerChain,
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
    const refund = isDoubted ? await this.#findRefund(job) : null;
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
    const refund = await this.#findRefund(job);
    if (refund === null) throw new ProblemError(refuseState(job.state, UNKNOWN_REFUND));
    if (refund.askedBy.includes(keyId)) throw new ProblemError(problemOfRefusal('own_job', job));
  }

  /** After a loss of Redis, the journal may not know what was sent and decided before it. */
  async #assertMayPay(job: JobRecord): Promise<void> {
    // The journal refuses what has ended.
    if (job.operation !== 'refund' || isFinal(job.state)) return;
    // Resuming what is voided or mined sends no transfer, and may be the only way to end it.
    const step = job.steps[job.stepIndex];
    if (step !== undefined && (step.voided || step.mined !== null)) return;
    const refund = await this.#findRefund(job);
    const fault = refund === null ? UNKNOWN_REFUND : await this.#findFault(job, refund);
    if (fault === null || (await this.#isOwnMined(job))) return;
    throw new ProblemError(refuseState(job.state, fault));
  }

  /** Why the job must not pay the refund; null: it may. */
  async #findFault(job: JobRecord, refund: Refund): Promise<string | null> {
    if (refund.state === 'given_up') return `The refund was given up, and another one may pay the rest. ${END_IT}`;
    const attempt = readRefundJob(job)?.attempt ?? 0;
    if (attempt < refund.attempt) return `The refund has a later attempt, ${refund.attempt}. ${END_IT}`;
    const paid = await findBookedRefund(this.book.writer.database, refund);
    if (paid !== undefined && !listHashes(job).includes(paid.transaction))
      return `The refund is paid already, by the transaction ${paid.transaction}. ${END_IT}`;
    const rival = await this.#findEarlier(job.lane.chainId, refund, attempt);
    return (
      rival &&
      `The refund may be paid by its earlier job ${rival}, or has been. End that job first; if it is FINAL, ${NAME_IT}`
    );
  }

  /** The job of an earlier attempt, by whichever account, that may pay the refund yet, or has paid it; null: there is none. */
  async #findEarlier(chainId: number, refund: Refund, attempt: number): Promise<string | null> {
    if (attempt < 2) return null;
    const lanes = (await this.journals.journal.readLanes()).filter((lane) => lane.chainId === chainId);
    const earlier = Array.from({ length: attempt - 1 }, (_, index) => ({ refund: refund.id, attempt: index + 1 }));
    const ids = lanes.flatMap((lane) => earlier.map((one) => nameRefundJob(lane, one)));
    for (const [index, job] of (await this.journals.journal.readEachJob(ids)).entries()) {
      if (job === null) continue;
      if (job instanceof UnreadableJobError) return ids[index] ?? null;
      if (!hasFailed(job) && !(await hasPaidAnother(this.book.writer.database, job, refund))) return job.id;
    }
    return null;
  }

  /** Whether its own transaction has used its nonce, so that it sends no other. */
  async #isOwnMined({ lane, steps, stepIndex }: JobRecord): Promise<boolean> {
    const attempts = steps[stepIndex]?.attempts ?? [];
    if (lane.chainId !== this.chain.chainId) return false;
    const seen = await Promise.all(attempts.map(({ hash }) => this.chain.readTransaction(hash)));
    return seen.some((mined) => mined !== null);
  }

  /** Null where the book does not know it, as after a restore. */
  #findRefund(job: JobRecord): Promise<Refund | null> {
    return readRefund(this.book.writer.database, readRefundJob(job)?.refund ?? '');
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
