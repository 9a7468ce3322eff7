import { Logger } from '@nestjs/common';
import type { Ledger, Refusal } from '@tollgate/ledger';

const logger = new Logger('Refunds');

/**
 * Records money that arrived and buys nothing, and logs it if it is new; this line is never sampled.
 * @throws LedgerError
 */
export async function noteForRefund(ledger: Pick<Ledger, 'recordRefusal'>, refusal: Refusal): Promise<void> {
  if (!(await ledger.recordRefusal(refusal))) return;
  const { id, amountBaseUnits, ...facts } = refusal;
  const amount = amountBaseUnits === undefined ? {} : { amountBaseUnits: amountBaseUnits.toString() };
  logger.log({ msg: 'payment recorded for refund', ...id, ...facts, ...amount });
}
