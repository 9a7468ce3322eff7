import type { Ledger, Refusal } from '@tollgate/ledger';

/** Where money that arrived and buys nothing is recorded, and logged; its lines are never sampled. */
export interface RefundNotes {
  ledger: Pick<Ledger, 'recordRefusal'>;
  refundLog: { log(message: object): void };
}

/** Records the money, and logs it with the request that found it if it is new. @throws StoreError */
export async function noteForRefund(
  { ledger, refundLog }: RefundNotes,
  refusal: Refusal,
  requestId: string,
): Promise<void> {
  if (!(await ledger.recordRefusal(refusal))) return;
  const { id, amountBaseUnits, ...facts } = refusal;
  const amount = amountBaseUnits === undefined ? {} : { amountBaseUnits: amountBaseUnits.toString() };
  refundLog.log({ requestId, msg: 'payment recorded for refund', ...id, ...facts, ...amount });
}
