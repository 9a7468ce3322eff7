import type { SettlementAttempt, Batch } from './attempt.js';
import { isShareable } from './payments/payment-entry.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';

/** Waits for the batch that the payment goes with: payments that can share a transaction do. */
export async function gather(
  { simulation }: Pick<SettlementParts, 'simulation'>,
  { batcher, batchSize }: Pick<Relayer, 'batcher' | 'batchSize'>,
  attempt: SettlementAttempt,
  isTried: boolean,
): Promise<Batch> {
  const alone: Batch = { attempts: [attempt], isShared: false, isTried, sent: null };
  if (attempt.isAlone || batchSize === 1 || !isShareable(attempt.payment)) return alone;
  const batch = await batcher.gather(attempt, isTried);
  if (batch.attempts.length === 1 || (await simulation.canShare().catch(() => false))) return batch;
  batcher.release(batch);
  return alone;
}
