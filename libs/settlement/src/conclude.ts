import type { SettlementResult } from '@tollgate/common';
import { pause } from '@tollgate/journal';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import type { SettlementAttempt, AttemptEnd } from './attempt.js';
import { explainAuthorization, explainPermit } from './payments/explain-payment.js';
import { settledBy } from './payments/payment-entry.js';
import type { SettlementParts } from './settlement-parts.js';
import type { EndedJob } from './state/job-watch.js';

const MOST_RETRIES = 2;
const LOOK_AGAIN_MS = 500;

/**
 * The payment's result. Null when it should be tried again: no transaction of ours can be mined any more, and no reason
 * is known why another attempt should fail.
 */
export async function conclude(
  parts: SettlementParts,
  attempt: SettlementAttempt,
  end: AttemptEnd,
): Promise<SettlementResult | null> {
  switch (end.outcome) {
    case 'settled':
      return settledBy(attempt.payment, end.txHash, end.amountBaseUnits);
    case 'answered':
      attempt.flight.isAnswered = true;
      return end.answer;
    case 'unavailable':
      return end;
    case 'excluded':
      return null;
    case 'refused':
      return explain(parts, attempt, null, end.failure);
    case 'elsewhere':
      return concludeJob(parts, attempt, end, await parts.jobs.untilEnded(end.jobId));
    case 'ended':
      return concludeJob(parts, attempt, end, end.news);
  }
}

async function concludeJob(
  parts: SettlementParts,
  attempt: SettlementAttempt,
  end: Extract<AttemptEnd, { jobId: string }>,
  news: EndedJob,
): Promise<SettlementResult | null> {
  const { strikes, records, onTrouble } = parts;
  const { payment, record } = attempt;
  const txHash = news.outcome === 'over' ? news.txHash : null;
  const result = await explain(parts, attempt, txHash, 'settlement_failed');
  if (result.outcome !== 'failed') return result;
  if (end.outcome === 'ended' && isOwnFailure(end)) await strikes.note(payment.payer).catch(onTrouble);
  if (result.failure === 'settlement_failed' && mayTryAgain(attempt, news)) return null;
  // An authorization that failed is tried again from the job that its record names, a permit from the start.
  if (payment.kind === 'permit2') await records.release(record, end.jobId).catch(onTrouble);
  return result;
}

/** A reverted batch does not show which payment caused it. Each is retried alone before it counts against a payer. */
function isOwnFailure({ isShared, news }: Extract<AttemptEnd, { outcome: 'ended' }>): boolean {
  return news.outcome === 'over' && news.txHash !== null && !(isShared && news.isReverted);
}

/** A permit is simulated by its relayer, so that it failed is known; unless its job was never written. */
function mayTryAgain({ payment, retries }: SettlementAttempt, news: EndedJob): boolean {
  return retries < MOST_RETRIES && (payment.kind === 'authorization' || news.outcome === 'unknown');
}

/** Asks until the chain answers, even if no asker waits any more: an unused result costs nothing. */
async function explain(
  { chainId, chain, refunds, windowMs, nowMs, closing, onTrouble }: SettlementParts,
  { payment, flight }: SettlementAttempt,
  txHash: Hex | null,
  failure: PaymentFailure,
): Promise<SettlementResult> {
  const terms = { requestId: flight.requestId, chainId, txHash, failure, windowMs, nowMs };
  while (!closing.aborted) {
    try {
      return payment.kind === 'permit2'
        ? await explainPermit(chain.reader, refunds, payment, terms)
        : await explainAuthorization(chain, payment, terms);
    } catch (error) {
      onTrouble(error);
    }
    await pause(LOOK_AGAIN_MS, closing);
  }
  return { outcome: 'pending', txHash };
}
