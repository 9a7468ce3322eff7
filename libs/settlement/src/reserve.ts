import { aloneBatch, type SettlementAttempt, type AttemptEnd, type Batch } from './attempts/attempt.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';
import type { Turn } from './state/in-flight-exposure.js';

/** A payment that may be sent now, with its batch. The attempt ends `turn`, and leaves the relayer's batcher. */
export interface Reserved {
  turn: Turn;
  batch: Batch;
}

const UNWANTED: AttemptEnd = { outcome: 'unavailable', reason: 'nobody_waits' };
const TURNED_AWAY: AttemptEnd = { outcome: 'unavailable', reason: 'payer_busy' };

/**
 * Waits until the payer's balance covers the payment together with everything of the payer that is in flight, then for
 * the batch that the payment goes with.
 */
export async function reserve(
  { exposure, simulation, nowMs }: Pick<SettlementParts, 'exposure' | 'simulation' | 'nowMs'>,
  { batcher }: Pick<Relayer, 'batcher'>,
  attempt: SettlementAttempt,
): Promise<Reserved | AttemptEnd> {
  const { payment, trial, flight } = attempt;
  const { asset, payer, amountBaseUnits } = payment;
  const turn = await exposure.begin({ asset, payer, amountBaseUnits: BigInt(amountBaseUnits), trial });
  if (turn === null) return TURNED_AWAY;
  if (nowMs() >= flight.wantedUntilMs) {
    turn.end();
    return UNWANTED;
  }
  const batch = await batcher.gather(attempt, turn.isTried);
  if (batch.attempts.length === 1 || (await simulation.canShare().catch(() => false))) return { turn, batch };
  batcher.release(batch);
  return { turn, batch: aloneBatch(attempt, turn.isTried) };
}
