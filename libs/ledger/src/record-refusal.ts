import { REFUSED_EVENTS, type RefusedFacts } from '@tollgate/book-events';

import type { LedgerRunner } from './continuity.js';
import { REFUSED_COUNTS, REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { nameOfPayment } from './payment-id.js';
import type { Refusal } from './types.js';

/** False when the payment is already recorded with this failure. @param kept the oldest beyond these are dropped */
export async function recordRefusal(
  runner: LedgerRunner,
  refusal: Refusal,
  { kept, isBooked }: { kept: number; isBooked: boolean },
): Promise<boolean> {
  const { id, failure, payer, amountBaseUnits, minedAtMs, detail } = refusal;
  const payment = nameOfPayment(id);
  const fields = Object.entries({ payment, failure, payer, amountBaseUnits, minedAtMs, detail }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name, value.toString()]),
  );
  const facts = isBooked ? JSON.stringify(describeRefusal(refusal)) : '';
  const args = [`${payment}|${failure}`, kept, payment, facts, ...fields];
  const keys = [REFUSED_SEEN, REFUSED_STREAM, REFUSED_COUNTS, REFUSED_EVENTS];
  return (await runner.run(LEDGER_SCRIPTS.recordRefusal, keys, args))[0] === 'recorded';
}

/** The script adds the count. */
function describeRefusal(refusal: Refusal): Omit<RefusedFacts, 'count'> {
  const { id, failure, payer, amountBaseUnits, minedAtMs, detail } = refusal;
  return {
    failure,
    payer: payer ?? null,
    amount: amountBaseUnits?.toString() ?? null,
    transaction: 'txHash' in id ? id.txHash : null,
    logIndex: 'logIndex' in id ? id.logIndex : null,
    minedAtMs: minedAtMs ?? null,
    detail: detail ?? null,
  };
}
