import {
  chainMethods,
  type ChainReader,
  ChainUnavailableError,
  MovedPayments,
  RPC_TIMEOUT_MS,
  type SentPayment,
  type Sighting,
} from '@tollgate/chain';
import { pause } from '@tollgate/journal';
import { validityOf, type Hex, type PaymentFailure } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import type { SettlementResult } from '@tollgate/transport';
import { noteForRefund } from '@tollgate/verification';

import type { SettlementAttempt, AttemptEnd, EndedJob } from './attempt.js';
import { settlementMethods } from './methods/registry.js';
import { paymentIdOf, settledBy, type PaymentEntry } from './payment-entry.js';
import type { SettlementParts } from './settlement-parts.js';

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
      return explain(parts, attempt, { txHash: null, isForgotten: false, failure: end.failure });
    case 'elsewhere':
      return concludeJob(parts, attempt, end, await parts.jobs.untilEnded(end.jobId));
    case 'ended':
      return concludeJob(parts, attempt, end, end.ended);
  }
}

async function concludeJob(
  parts: SettlementParts,
  attempt: SettlementAttempt,
  end: Extract<AttemptEnd, { jobId: string }>,
  ended: EndedJob,
): Promise<SettlementResult | null> {
  const { strikes, records, closing, nowMs, onTrouble } = parts;
  const { payment, record, flight } = attempt;
  const txHash = ended.outcome === 'over' ? ended.txHash : null;
  const isForgotten = ended.outcome === 'unknown';
  const unsettled: Unsettled = { txHash, isForgotten, failure: 'settlement_failed' };
  let result = await explain(parts, attempt, unsettled);
  // The RPC server lags behind the one that showed the transaction. Only this request can count the failure against the
  // payer: to a later one, the job is that of another request.
  while (
    end.outcome === 'ended' &&
    result.outcome === 'pending' &&
    nowMs() < flight.wantedUntilMs &&
    !closing.aborted
  ) {
    await pause(LOOK_AGAIN_MS, closing);
    result = await explain(parts, attempt, unsettled);
  }
  if (result.outcome !== 'failed') return result;
  if (end.outcome === 'ended' && isOwnFailure(payment, end)) await strikes.note(payment.payer).catch(onTrouble);
  if (result.failure === 'settlement_failed' && mayTryAgain(attempt, ended)) return null;
  // One that failed is tried again from the job that its record names; one that its sender simulates, from the start.
  if (isSimulatedBySender(payment)) await records.release(record, end.jobId).catch(onTrouble);
  return result;
}

/**
 * A reverted batch does not show which payment caused it. Each is retried alone before it counts against a payer. A batch
 * that had to wait was simulated again, and what would have failed is in no transaction.
 */
function isOwnFailure(
  { payment }: PaymentEntry,
  { isShared, ended }: Extract<AttemptEnd, { outcome: 'ended' }>,
): boolean {
  if (ended.outcome !== 'over' || ended.calldata === null) return false;
  return !isShared || (!ended.isReverted && chainMethods.of(payment).isIn(ended.calldata, payment));
}

/** Where the sender has simulated it, its failure is known, unless its job was never written. */
function mayTryAgain({ payment, retries }: SettlementAttempt, ended: EndedJob): boolean {
  return retries < MOST_RETRIES && (!isSimulatedBySender(payment) || ended.outcome === 'unknown');
}

function isSimulatedBySender({ payment }: PaymentEntry): boolean {
  return settlementMethods.of(payment).isSimulatedBySender;
}

/** Asks until chain and journal answer, even if no asker waits any more: an unused result costs nothing. */
async function explain(
  parts: SettlementParts,
  { payment, flight }: SettlementAttempt,
  unsettled: Unsettled,
): Promise<SettlementResult> {
  const { closing, onTrouble } = parts;
  while (!closing.aborted) {
    try {
      const { requestId } = flight;
      return await explainEntry(parts, payment, { ...unsettled, requestId });
    } catch (error) {
      // A fault of the program would be there at each look.
      if (!(error instanceof ChainUnavailableError || error instanceof StoreError)) throw error;
      onTrouble(error);
    }
    await pause(LOOK_AGAIN_MS, closing);
  }
  return { outcome: 'pending', txHash: unsettled.txHash };
}

interface Unsettled {
  /** The transaction that did not settle the payment. */
  txHash: Hex | null;
  /** The journal does not know the job: it never began, or it has ended and may have settled the payment. */
  isForgotten: boolean;
  /** Is reported when the chain shows no reason. */
  failure: PaymentFailure;
}

/** Its transactions are looked at already, as far as the journal knows them. */
function describeSent(isForgotten: boolean): SentPayment {
  return { txHashes: [], job: isForgotten ? 'forgotten' : 'over' };
}

/**
 * Finds out what became of a payment that no transaction of ours can settle any more. A third party may have sent it,
 * and then it is settled; otherwise the reason is returned. One that may have moved the money is recorded for a refund.
 * @throws ChainUnavailableError, StoreUnavailableError
 */
async function explainEntry(
  { chain: { reader }, chainId, refunds, windowMs, nowMs }: SettlementParts,
  entry: PaymentEntry,
  { txHash, isForgotten, failure, requestId }: Unsettled & { requestId: string },
): Promise<SettlementResult> {
  const { asset, payer, payTo, payment } = entry;
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  let shown: Sighting | undefined;
  if (txHash !== null) {
    shown = await reader.readTransaction(txHash, deadlineMs);
    if (shown.mined === null) return { outcome: 'pending', txHash };
    const moved = new MovedPayments(shown.mined.receipt.logs).of(entry);
    if (moved !== null) return settledBy(entry, txHash, moved);
  }
  const method = chainMethods.of(payment);
  // Another server may answer, which has not seen the block yet: its newest state would show the nonce as free.
  const nonce = method.askForNonceOf(payment, asset);
  const { isTaken, headBlockNumber } = await reader.readNonce(nonce, deadlineMs, shown);
  if (shown !== undefined && headBlockNumber < shown.headBlockNumber) return { outcome: 'pending', txHash };
  if (!isTaken) {
    const reason = await findReason(reader, entry, { nowMs: nowMs(), deadlineMs });
    return { outcome: 'failed', failure: reason ?? failure, txHash };
  }
  const lookUp = { promised: entry, sent: describeSent(isForgotten), sinceMs: startedAtMs - windowMs, deadlineMs };
  const use = await method.findUse(reader, lookUp, headBlockNumber);
  switch (use.outcome) {
    case 'settled':
      return settledBy(entry, use.txHash, use.amountBaseUnits);
    case 'cancelled':
      return { outcome: 'failed', failure: 'authorization_cancelled', txHash: use.txHash };
    case 'used':
      return { outcome: 'failed', failure: 'payment_used', txHash: use.txHash ?? txHash };
    case 'doubtful': {
      // Recorded before the payer gets the answer: after a refusal it may never show the payment again.
      const refused = { id: paymentIdOf(chainId, entry), payer, failure: use.failure };
      const amountBaseUnits = BigInt(entry.amountBaseUnits);
      await noteForRefund(refunds, { ...refused, amountBaseUnits, ...use.facts }, { requestId, payTo, asset });
      return { outcome: 'failed', failure: use.failure, txHash: use.txHash === undefined ? txHash : use.txHash };
    }
  }
}

/** Why a payment whose nonce is free was not moved; null: the chain shows no reason. */
async function findReason(
  reader: ChainReader,
  entry: PaymentEntry,
  { nowMs, deadlineMs }: { nowMs: number; deadlineMs: number },
): Promise<PaymentFailure | null> {
  const { payment } = entry;
  const seconds = BigInt(Math.floor(nowMs / 1000));
  if (BigInt(validityOf(payment).validBefore) <= seconds) return 'authorization_expired';
  return settlementMethods.of(payment).explainFree(reader, entry, { seconds, deadlineMs });
}
