import { type ChainReader, findMoved, findPermitUse, SENT_BY_ANOTHER, RPC_TIMEOUT_MS } from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import { signedPaymentId } from '@tollgate/ledger';
import { noteForRefund, type RefundNotes } from '@tollgate/verification';

import type { UnsettledTerms } from './explain-authorization.js';
import { settledBy, type PermitEntry } from './payment-entry.js';

/**
 * Like `explainAuthorization`, for a permit. A permit that was sent through another contract is recorded for a refund.
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
  if (use.outcome === 'unclear') {
    const { amountBaseUnits, minedAtMs } = use;
    const record = { id: signedPaymentId({ chainId, asset }, payment), payer, amountBaseUnits, minedAtMs };
    await noteForRefund(notes, { ...record, failure: 'payment_used', detail: SENT_BY_ANOTHER }, requestId);
  }
  return { outcome: 'failed', failure: 'payment_used', txHash };
}
