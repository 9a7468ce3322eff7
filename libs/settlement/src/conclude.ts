import {
  askForBalance,
  carriesAuthorization,
  ChainUnavailableError,
  malformed,
  readWord,
  type RpcBatcher,
  RPC_TIMEOUT_MS,
  describeDoubtfulUse,
  findPermitUse,
  type SentPayment,
  type Sighting,
  findAuthorizationUse,
} from '@tollgate/chain';
import { pause } from '@tollgate/journal';
import type { Hex, PaymentFailure } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import type { SettlementResult } from '@tollgate/transport';
import { noteForRefund } from '@tollgate/verification';

import type { SettlementAttempt, AttemptEnd, EndedJob } from './attempt.js';
import {
  findPaid,
  paymentIdOf,
  settledBy,
  type AuthorizationEntry,
  type PaymentEntry,
  type PermitEntry,
} from './payment-entry.js';
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
  // An authorization that failed is tried again from the job that its record names, a permit from the start.
  if (payment.kind === 'permit2') await records.release(record, end.jobId).catch(onTrouble);
  return result;
}

/**
 * A reverted batch does not show which payment caused it. Each is retried alone before it counts against a payer. A batch
 * that had to wait was simulated again, and what would have failed is in no transaction.
 */
function isOwnFailure(payment: PaymentEntry, { isShared, ended }: Extract<AttemptEnd, { outcome: 'ended' }>): boolean {
  if (ended.outcome !== 'over' || ended.calldata === null) return false;
  if (!isShared || payment.kind === 'permit2') return true;
  return !ended.isReverted && carriesAuthorization(ended.calldata, payment.authorization);
}

/** A permit's own relayer simulates it, so its failure is known, unless its job was never written. */
function mayTryAgain({ payment, retries }: SettlementAttempt, ended: EndedJob): boolean {
  return retries < MOST_RETRIES && (payment.kind === 'authorization' || ended.outcome === 'unknown');
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
      return payment.kind === 'permit2'
        ? await explainPermit(parts, payment, { ...unsettled, requestId })
        : await explainAuthorization(parts, payment, { ...unsettled, requestId });
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
 * and then it is settled; otherwise the reason is returned. One whose nonce is taken and not found is recorded for a refund.
 * @throws ChainUnavailableError, StoreUnavailableError
 */
async function explainAuthorization(
  { chain: { batcher, reader }, chainId, refunds, windowMs, nowMs }: SettlementParts,
  entry: AuthorizationEntry,
  { txHash, isForgotten, failure, requestId }: Unsettled & { requestId: string },
): Promise<SettlementResult> {
  const { asset, payTo, authorization } = entry;
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  let shown: Sighting | undefined;
  if (txHash !== null) {
    shown = await reader.readTransaction(txHash, deadlineMs);
    if (shown.mined === null) return { outcome: 'pending', txHash };
    const moved = findPaid(entry, shown.mined.receipt.logs);
    if (moved !== null) return settledBy(entry, txHash, moved);
  }
  const name = { asset, payer: authorization.from, nonce: authorization.nonce };
  // Another server may answer, which has not seen the block yet: its newest state would show the nonce as free.
  const { isTaken, headBlockNumber } = await reader.readNonce(name, deadlineMs, shown);
  if (shown !== undefined && headBlockNumber < shown.headBlockNumber) return { outcome: 'pending', txHash };
  if (!isTaken) {
    return { outcome: 'failed', failure: await findReason(batcher, entry, { failure, nowMs, deadlineMs }), txHash };
  }
  const lookUp = { promised: entry, sent: describeSent(isForgotten), sinceMs: startedAtMs - windowMs, deadlineMs };
  const use = await findAuthorizationUse(reader, lookUp, headBlockNumber);
  switch (use.outcome) {
    case 'settled':
      return settledBy(entry, use.txHash, entry.amountBaseUnits);
    case 'cancelled':
      return { outcome: 'failed', failure: 'authorization_cancelled', txHash: use.txHash };
    case 'used': {
      if (use.txHash !== null) return { outcome: 'failed', failure: 'payment_used', txHash: use.txHash };
      // Older than the searched range, or not shown yet: it may have paid. Recorded before the payer gets the answer, as
      // for a permit.
      const id = paymentIdOf(chainId, entry);
      const refused = { id, payer: authorization.from, failure: 'payment_too_old' } as const;
      const detail = 'its nonce is used, and the transaction is not found: it may have paid another recipient';
      await noteForRefund(
        refunds,
        { ...refused, amountBaseUnits: BigInt(entry.amountBaseUnits), detail },
        { requestId, payTo, asset },
      );
      return { outcome: 'failed', failure: 'payment_too_old', txHash: null };
    }
  }
}

async function findReason(
  batcher: RpcBatcher,
  { asset, authorization }: AuthorizationEntry,
  { failure, nowMs, deadlineMs }: { failure: PaymentFailure; nowMs: () => number; deadlineMs: number },
): Promise<PaymentFailure> {
  const nowSeconds = BigInt(Math.floor(nowMs() / 1000));
  if (BigInt(authorization.validBefore) <= nowSeconds) return 'authorization_expired';
  if (BigInt(authorization.validAfter) >= nowSeconds) return 'authorization_not_yet_valid';
  const balance = await readPayerBalance(batcher, asset, authorization.from, deadlineMs);
  return balance < BigInt(authorization.value) ? 'balance_too_low' : failure;
}

/**
 * The token balance of an account in the newest block.
 * @throws ChainUnavailableError
 */
export function readPayerBalance(batcher: RpcBatcher, asset: Hex, owner: Hex, deadlineMs: number): Promise<bigint> {
  return batcher.ask({
    calls: [askForBalance(asset, owner)],
    deadlineMs,
    read: ([balance]) => readWord(balance) ?? malformed('no token balance'),
  });
}

/**
 * Like `explainAuthorization`, for a permit. A permit that was sent through another contract, or that may have moved money and
 * was not found, is recorded for a refund.
 * @throws ChainUnavailableError, StoreUnavailableError
 */
async function explainPermit(
  { chain: { reader }, chainId, refunds, windowMs, nowMs }: SettlementParts,
  entry: PermitEntry,
  { txHash, isForgotten, failure, requestId }: Unsettled & { requestId: string },
): Promise<SettlementResult> {
  const { asset, payer, payTo, payment } = entry;
  const { nonce, deadline } = payment.permit2Authorization;
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  let shown: Sighting | undefined;
  if (txHash !== null) {
    shown = await reader.readTransaction(txHash, deadlineMs);
    if (shown.mined === null) return { outcome: 'pending', txHash };
    const moved = findPaid(entry, shown.mined.receipt.logs);
    if (moved !== null) return settledBy(entry, txHash, moved);
  }
  const { isTaken, headBlockNumber } = await reader.readPermitNonce({ owner: payer, nonce }, deadlineMs, shown);
  if (shown !== undefined && headBlockNumber < shown.headBlockNumber) return { outcome: 'pending', txHash };
  if (!isTaken) {
    const isOver = BigInt(deadline) * 1000n <= BigInt(Math.floor(startedAtMs));
    return { outcome: 'failed', failure: isOver ? 'authorization_expired' : failure, txHash };
  }
  const lookUp = { promised: entry, sent: describeSent(isForgotten), sinceMs: startedAtMs - windowMs, deadlineMs };
  const use = await findPermitUse(reader, lookUp, headBlockNumber);
  if (use.outcome === 'settled') return settledBy(entry, use.txHash, use.amountBaseUnits.toString());
  // Recorded before the payer gets the answer: after a refusal it may never show the payment again.
  if (use.outcome !== 'used') {
    const id = paymentIdOf(chainId, entry);
    const refused = { id, payer, failure: 'payment_used', amountBaseUnits: BigInt(entry.amountBaseUnits) } as const;
    await noteForRefund(refunds, { ...refused, ...describeDoubtfulUse(use) }, { requestId, payTo, asset });
  }
  return { outcome: 'failed', failure: 'payment_used', txHash };
}
