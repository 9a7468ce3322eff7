import type { SettlementAttempt, AttemptEnd } from './attempt.js';
import type { SettlementParts } from './settlement-parts.js';
import type { Turn } from './state/in-flight-exposure.js';

const UNWANTED: AttemptEnd = { outcome: 'unavailable', reason: 'nobody_waits' };
const TURNED_AWAY: AttemptEnd = { outcome: 'unavailable', reason: 'payer_busy' };

/** Waits until the payer's balance covers the payment together with everything of the payer that is in flight. */
export async function reserve(
  { exposure, nowMs }: Pick<SettlementParts, 'exposure' | 'nowMs'>,
  { payment, trial, flight }: SettlementAttempt,
): Promise<Turn | AttemptEnd> {
  const { asset, payer, amountBaseUnits } = payment;
  const turn = await exposure.begin({ asset, payer, amountBaseUnits: BigInt(amountBaseUnits), trial });
  if (turn === null) return TURNED_AWAY;
  if (nowMs() < flight.wantedUntilMs) return turn;
  turn.end();
  return UNWANTED;
}
