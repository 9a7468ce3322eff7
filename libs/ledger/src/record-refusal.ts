import { REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
import { locatePayment } from './payment-id.js';
import type { ScriptRunner } from './script-runner.js';
import type { Refusal } from './types.js';

/** Appends to the refused payments, once per payment and failure; beyond `keep` the oldest make room. */
export async function recordRefusal(runner: ScriptRunner, refusal: Refusal, keep: number): Promise<void> {
  const payment = nameOf(refusal);
  const fields = Object.entries({
    payment,
    failure: refusal.failure,
    payer: refusal.payer,
    amountBaseUnits: refusal.amountBaseUnits?.toString(),
    minedAtMs: refusal.minedAtMs?.toString(),
    detail: refusal.detail,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  await runner.run('recordRefusal', [REFUSED_SEEN, REFUSED_STREAM], [`${payment}|${refusal.failure}`, keep, ...fields]);
}

function nameOf({ id }: Refusal): string {
  const { entry, slot } = locatePayment(id);
  return `${entry}:${slot}`;
}
