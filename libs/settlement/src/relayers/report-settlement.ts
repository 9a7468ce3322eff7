import type { SettledPayment } from '@tollgate/book-events';
import { AuthorizedTransfers, findMoved } from '@tollgate/chain';
import { describeTransaction, type ReportTransaction } from '@tollgate/journal';
import { nameOfPayment, signedPaymentId } from '@tollgate/ledger';

import type { PaymentEntry } from '../payments/payment-entry.js';
import { parseSettlementJob } from './settlement-job.js';

/** The report of a relayer's transaction, with what it moved of each payment. */
export const reportSettlement: ReportTransaction = (job, step, receipt) => {
  const transfers = new AuthorizedTransfers(receipt.logs);
  const amountOf = (entry: PaymentEntry): string | null => {
    if (entry.kind === 'permit2') return findMoved(receipt.logs, entry)?.toString() ?? null;
    return transfers.include(entry) ? entry.amountBaseUnits : null;
  };
  const { chainId, address: relayer } = job.lane;
  const payments = parseSettlementJob(job).map((entry): SettledPayment => {
    const { asset, payTo, payer } = entry;
    return { payment: nameOf(chainId, entry), asset, payTo, payer, amount: amountOf(entry), logIndex: null };
  });
  return { type: 'settled', facts: { ...describeTransaction(job, step, receipt), relayer, payments } };
};

function nameOf(chainId: number, entry: PaymentEntry): string {
  if (entry.kind === 'permit2') return nameOfPayment(signedPaymentId({ chainId, asset: entry.asset }, entry.payment));
  const { from, nonce } = entry.authorization;
  return nameOfPayment({ kind: 'authorization', chainId, asset: entry.asset, from, nonce });
}
