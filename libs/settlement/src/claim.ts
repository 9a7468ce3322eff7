import { unavailableBy, type Batch, type EarlyEnds } from './attempts/attempt.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';

/**
 * Records the job as the one that settles these payments. Returns those that another job settles, or whose question was
 * answered before.
 */
export async function claim(
  { records }: Pick<SettlementParts, 'records'>,
  { onTrouble }: Pick<Relayer, 'onTrouble'>,
  { attempts }: Batch,
  jobId: string,
): Promise<EarlyEnds> {
  const ends: EarlyEnds = new Map();
  try {
    const [first] = attempts;
    // Only a payment that has failed before names its former job, and then it goes alone.
    const isTakenOver = first?.endedJobId != null && (await records.replace(first.record, first.endedJobId, jobId));
    const claimed = attempts.map(({ record }) => record);
    const holdings = isTakenOver ? [] : await records.claim(claimed, jobId);
    for (const [index, attempt] of attempts.entries()) {
      const holding = holdings[index] ?? { jobId };
      if ('answer' in holding) {
        ends.set(attempt, { outcome: 'answered', ...holding });
        continue;
      }
      attempt.flight.jobId = holding.jobId;
      if (holding.jobId !== jobId) ends.set(attempt, { outcome: 'elsewhere', ...holding });
    }
  } catch (error) {
    onTrouble(error);
    // Whether they were recorded is unknown.
    await Promise.all(attempts.map(({ record }) => records.release(record, jobId))).catch(onTrouble);
    for (const attempt of attempts) ends.set(attempt, unavailableBy(error));
  }
  return ends;
}
