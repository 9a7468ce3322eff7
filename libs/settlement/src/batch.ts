import { type SettlementAttempt, type AttemptEnd, type Batch, type EarlyEnds, unavailableBy } from './attempt.js';
import type { Relayer, SettlementParts } from './settlement-parts.js';
import type { Simulated, SimulatedTransaction } from './simulate.js';

type BatchParts = Pick<SettlementParts, 'records' | 'wallets' | 'simulation'>;

export interface ReadyBatch {
  /** What the job settles; none when nothing is to be sent. */
  attempts: readonly SettlementAttempt[];
  ends: EarlyEnds;
  /** Null for a permit, which is planned by the relayer that sends it. */
  transaction: SimulatedTransaction | null;
}

/**
 * Records the job as the one that settles the payments of the batch, leaves out what must not be sent, and holds the gas
 * that a contract wallet may burn.
 */
export async function batch(
  parts: BatchParts,
  { onTrouble }: Pick<Relayer, 'onTrouble'>,
  { attempts }: Batch,
  jobId: string,
  simulating: Promise<Simulated>,
): Promise<ReadyBatch> {
  const [claimed, simulated] = await Promise.all([claim(parts, attempts, jobId, onTrouble), simulating]);
  const own = attempts.filter((attempt) => !claimed.has(attempt));
  const ready = own.filter((attempt) => !simulated.ends.has(attempt));
  const ends: EarlyEnds = new Map([...simulated.ends, ...claimed]);
  let transaction = ready.length === 0 ? null : simulated.transaction;
  if (transaction && transaction.entries.length > ready.length) {
    const left = ready.map(({ payment }) => payment);
    transaction = parts.simulation.narrow(transaction, left);
  }
  const refusal = transaction?.walletCode ? await admit(parts, jobId, transaction, onTrouble) : null;
  if (refusal) for (const attempt of ready) ends.set(attempt, refusal);
  const refused = own.filter((attempt) => ends.has(attempt));
  await Promise.all(refused.map(({ record }) => parts.records.release(record, jobId))).catch(onTrouble);
  return { attempts: refusal ? [] : ready, ends, transaction };
}

/**
 * Records the job as the one that settles these payments. Returns those that another job settles, or whose question was
 * answered before.
 */
async function claim(
  { records }: BatchParts,
  attempts: readonly SettlementAttempt[],
  jobId: string,
  onTrouble: (error: unknown) => void,
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

/** The reason why a contract wallet's job must not be sent; null when it may be. */
async function admit(
  { wallets }: BatchParts,
  jobId: string,
  { walletCode: code, gas }: SimulatedTransaction,
  onTrouble: (error: unknown) => void,
): Promise<AttemptEnd | null> {
  try {
    const refusal = code && (await wallets.admit(jobId, { code, gas }));
    if (refusal === 'contract_wallets_busy') return { outcome: 'unavailable', reason: refusal };
    return refusal && { outcome: 'refused', failure: refusal };
  } catch (error) {
    onTrouble(error);
    return { outcome: 'unavailable', reason: 'redis_unavailable' };
  }
}
