import { UnreadableJobError, type JobRecord } from '@tollgate/journal';

import { findBooked } from './close-for-refund.js';
import { hasPaidAnother } from './judge-transaction.js';
import type { RefundPorts } from './ports.js';
import { hasFailed, listHashes, nameRefundJob, readRefundJob } from './refund-job.js';
import type { Refund } from './refund.js';

const END_IT = 'Cancel this job, or abandon it (`tollgate jobs abandon`) where it needs an operator.';
const NAME_IT = 'cancel this one, and name its transaction (`tollgate refunds paid`).';

/**
 * Why a refund's job, which has not ended, must not go on, after Redis or the book has lost data; null: it may pay the refund,
 * or sends no transfer any more, and may be the only way to end it.
 * @param refund null: the book does not know it
 */
export async function findPayFault(ports: RefundPorts, job: JobRecord, refund: Refund | null): Promise<string | null> {
  const step = job.steps[job.stepIndex];
  if (step !== undefined && (step.voided || step.mined !== null)) return null;
  const fault = refund === null ? 'The book does not know this refund.' : await findFault(ports, job, refund);
  return fault === null || (await isOwnMined(ports, job)) ? null : fault;
}

async function findFault(ports: RefundPorts, job: JobRecord, refund: Refund): Promise<string | null> {
  if (refund.state === 'given_up') return `The refund was given up, and another one may pay the rest. ${END_IT}`;
  const attempt = readRefundJob(job)?.attempt ?? 0;
  if (attempt < refund.attempt) return `The refund has a later attempt, ${refund.attempt}. ${END_IT}`;
  const paid = await findBooked(ports.book, refund);
  if (paid !== undefined && !listHashes(job).includes(paid.transaction))
    return `The refund is paid already, by the transaction ${paid.transaction}. ${END_IT}`;
  const rival = await findEarlier(ports, job.lane.chainId, refund, attempt);
  return (
    rival &&
    `The refund may be paid by its earlier job ${rival}, or has been. End that job first; if it is FINAL, ${NAME_IT}`
  );
}

/** The job of an earlier attempt, by whichever account, that may pay the refund yet, or has paid it; null: there is none. */
async function findEarlier(
  { journal, book }: RefundPorts,
  chainId: number,
  refund: Refund,
  attempt: number,
): Promise<string | null> {
  if (attempt < 2) return null;
  const lanes = (await journal.readLanes()).filter((lane) => lane.chainId === chainId);
  const earlier = Array.from({ length: attempt - 1 }, (_, index) => ({ refund: refund.id, attempt: index + 1 }));
  const ids = lanes.flatMap((lane) => earlier.map((one) => nameRefundJob(lane, one)));
  for (const [index, job] of (await journal.readEachJob(ids)).entries()) {
    if (job === null) continue;
    if (job instanceof UnreadableJobError) return ids[index] ?? null;
    if (!hasFailed(job) && !(await hasPaidAnother(book, job, refund))) return job.id;
  }
  return null;
}

/** Whether its own transaction has used its nonce, so that it sends no other. */
async function isOwnMined({ chain }: RefundPorts, { lane, steps, stepIndex }: JobRecord): Promise<boolean> {
  const attempts = steps[stepIndex]?.attempts ?? [];
  if (lane.chainId !== chain.chainId) return false;
  const seen = await Promise.all(attempts.map(({ hash }) => chain.readTransaction(hash)));
  return seen.some((mined) => mined !== null);
}
