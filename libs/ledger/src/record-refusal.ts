import type { LedgerRunner } from './continuity.js';
import { REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
import { LEDGER_SCRIPTS } from './ledger-scripts.js';
import { locatePayment } from './payment-id.js';
import type { Refusal } from './types.js';

/**
 * Appends to the refused payments and drops the oldest beyond `keep`. False when payment and failure are already
 * recorded.
 */
export async function recordRefusal(runner: LedgerRunner, refusal: Refusal, keep: number): Promise<boolean> {
  const payment = nameOf(refusal);
  const fields = Object.entries({
    payment,
    failure: refusal.failure,
    payer: refusal.payer,
    amountBaseUnits: refusal.amountBaseUnits?.toString(),
    minedAtMs: refusal.minedAtMs?.toString(),
    detail: refusal.detail,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  const args = [`${payment}|${refusal.failure}`, keep, ...fields];
  return (await runner.run(LEDGER_SCRIPTS.recordRefusal, [REFUSED_SEEN, REFUSED_STREAM], args))[0] === 'recorded';
}

function nameOf({ id }: Refusal): string {
  const { entry, slot } = locatePayment(id);
  return `${entry}:${slot}`;
}
