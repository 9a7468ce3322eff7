import { AuthorizedTransfers, findMoved } from '@tollgate/chain';
import { crashPoint } from '@tollgate/journal';

import type { SettlementAttempt, AttemptEnd, SentBatch } from './attempts/attempt.js';
import type { SettlementParts } from './settlement-parts.js';
import type { MinedJob } from './state/job-watch.js';

/** Waits until the batch is mined, and reads from its logs whether the payment was settled. */
export async function confirm(
  { jobs, gas }: Pick<SettlementParts, 'jobs' | 'gas'>,
  sent: SentBatch,
  attempt: SettlementAttempt,
): Promise<AttemptEnd> {
  const { jobId, attempts } = sent;
  const isShared = attempts.length > 1;
  const news = await sent.mined;
  if (news.outcome !== 'mined') return { outcome: 'ended', jobId, isShared, news };
  if (sent.paid === null) {
    crashPoint('S3');
    sent.paid = readPaid(attempts, news);
    const assets = attempts.flatMap(({ payment }) => (payment.kind === 'authorization' ? [payment.asset] : []));
    if (sent.paid.size === assets.length) gas.learn(assets, news.gasUsed);
  }
  const amountBaseUnits = sent.paid.get(attempt);
  if (amountBaseUnits !== undefined) return { outcome: 'settled', txHash: news.txHash, amountBaseUnits };
  // A failure is final only when no transaction of the job can be mined any more, in another block or as another
  // attempt.
  return { outcome: 'ended', jobId, isShared, news: await jobs.untilEnded(jobId) };
}

function readPaid(attempts: readonly SettlementAttempt[], { logs }: MinedJob): Map<SettlementAttempt, string> {
  const paid = new Map<SettlementAttempt, string>();
  const transfers = new AuthorizedTransfers(logs);
  for (const attempt of attempts) {
    const { payment } = attempt;
    if (payment.kind === 'permit2') {
      const moved = findMoved(logs, payment);
      if (moved !== null) paid.set(attempt, moved.toString());
    } else if (transfers.include(payment)) paid.set(attempt, payment.amountBaseUnits);
  }
  return paid;
}
