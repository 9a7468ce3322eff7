import {
  askForBalance,
  type ChainReader,
  lookUpAuthorization,
  malformed,
  readWord,
  type RpcBatcher,
  RPC_TIMEOUT_MS,
  findMoved,
  findPermitUse,
  NOT_FOUND,
  SENT_BY_ANOTHER,
} from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import { signedPaymentId } from '@tollgate/ledger';
import type { Hex, PaymentFailure } from '@tollgate/protocol';
import { noteForRefund, type RefundNotes } from '@tollgate/verification';

import { settledBy, type AuthorizationEntry, type PermitEntry } from './payment-entry.js';

/** The chain clients that settlements are read with. */
export interface SettledChain {
  batcher: RpcBatcher;
  reader: ChainReader;
}

export interface UnsettledTerms {
  /** For the log: the request that began the settlement. */
  requestId: string;
  chainId: number;
  /** The transaction that did not settle the payment. */
  txHash: Hex | null;
  /** The failure to report when the chain shows no reason. */
  failure: PaymentFailure;
  windowMs: number;
  nowMs: () => number;
}

/**
 * Finds out what became of a payment that no transaction of ours can settle any more. A third party may have sent it,
 * and then it is settled; otherwise the reason is returned.
 * @throws ChainUnavailableError
 */
export async function explainAuthorization(
  { batcher, reader }: SettledChain,
  entry: AuthorizationEntry,
  { txHash, failure, windowMs, nowMs }: UnsettledTerms,
): Promise<SettlementResult> {
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  const lookUp = { promised: entry, sinceMs: startedAtMs - windowMs, deadlineMs };
  const sighting = await lookUpAuthorization(reader, lookUp);
  switch (sighting.outcome) {
    case 'settled':
      return settledBy(entry, sighting.txHash, entry.amountBaseUnits);
    case 'cancelled':
      return { outcome: 'failed', failure: 'authorization_cancelled', txHash: sighting.txHash };
    case 'used':
      // Not found means older than the searched range: the nonce may have paid for something.
      return {
        outcome: 'failed',
        failure: sighting.txHash === null ? 'payment_too_old' : 'payment_used',
        txHash: sighting.txHash,
      };
    case 'unused':
      return { outcome: 'failed', failure: await findReason(batcher, entry, { failure, nowMs, deadlineMs }), txHash };
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
 * Like `explainAuthorization`, for a permit. A permit that was sent through another contract, or was not found behind newer
 * payments, is recorded for a refund.
 * @throws ChainUnavailableError, StoreUnavailableError
 */
export async function explainPermit(
  reader: ChainReader,
  notes: RefundNotes,
  entry: PermitEntry,
  { requestId, chainId, txHash, failure, windowMs, nowMs }: UnsettledTerms,
): Promise<SettlementResult> {
  const { asset, payer, payment } = entry;
  const { nonce, deadline } = payment.permit2Authorization;
  const promised = entry;
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  if (txHash !== null) {
    const { mined } = await reader.readTransaction(txHash, deadlineMs);
    if (mined === null) return { outcome: 'pending', txHash };
    const moved = findMoved(mined.receipt.logs, promised);
    if (moved !== null) return settledBy(entry, txHash, moved.toString());
  }
  const { isTaken, headBlockNumber } = await reader.readPermitNonce({ owner: payer, nonce }, deadlineMs);
  if (!isTaken) {
    const isOver = BigInt(deadline) * 1000n <= BigInt(Math.floor(startedAtMs));
    return { outcome: 'failed', failure: isOver ? 'authorization_expired' : failure, txHash };
  }
  const use = await findPermitUse(reader, { promised, sinceMs: startedAtMs - windowMs, deadlineMs }, headBlockNumber);
  if (use.outcome === 'settled') return settledBy(entry, use.txHash, use.amountBaseUnits.toString());
  // Recorded before the payer gets the answer: after a refusal it may never show the payment again.
  if (use.outcome !== 'used') {
    const record = { id: signedPaymentId({ chainId, asset }, payment), payer, failure: 'payment_used' } as const;
    const facts =
      use.outcome === 'unclear'
        ? { amountBaseUnits: use.amountBaseUnits, minedAtMs: use.minedAtMs, detail: SENT_BY_ANOTHER }
        : { amountBaseUnits: BigInt(entry.amountBaseUnits), detail: NOT_FOUND };
    await noteForRefund(notes, { ...record, ...facts }, requestId);
  }
  return { outcome: 'failed', failure: 'payment_used', txHash };
}
