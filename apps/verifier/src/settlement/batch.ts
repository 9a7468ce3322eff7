import type { SettlementAttempt, AttemptEnd, Batch, EarlyEnds } from './attempt.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';
import type { Simulated } from './simulate.js';
import type { SimulatedTransaction } from './simulation/simulation.js';

type BatchParts = Pick<SettlementParts, 'records' | 'wallets' | 'simulation'>;

export interface ReadyBatch {
  /** What the job settles; none when nothing is to be sent. */
  attempts: readonly SettlementAttempt[];
  ends: EarlyEnds;
  /** Null for a permit, which is planned by the relayer that sends it. */
  transaction: SimulatedTransaction | null;
}

/** Leaves out what must not be sent, and holds the gas that a contract wallet may burn. */
export async function batch(
  parts: BatchParts,
  { onTrouble }: Pick<Relayer, 'onTrouble'>,
  { attempts }: Batch,
  jobId: string,
  claimed: EarlyEnds,
  simulated: Simulated,
): Promise<ReadyBatch> {
  const own = attempts.filter((attempt) => !claimed.has(attempt));
  const ready = own.filter((attempt) => !simulated.ends.has(attempt));
  const ends: EarlyEnds = new Map([...simulated.ends, ...claimed]);
  const transaction = ready.length === 0 ? null : narrow(parts, simulated.transaction, ready);
  const refusal = transaction && (await admit(parts, jobId, transaction, onTrouble));
  if (refusal) for (const attempt of ready) ends.set(attempt, refusal);
  const refused = own.filter((attempt) => ends.has(attempt));
  await Promise.all(refused.map(({ record }) => parts.records.release(record, jobId))).catch(onTrouble);
  return { attempts: refusal ? [] : ready, ends, transaction };
}

function narrow(
  { simulation }: BatchParts,
  transaction: SimulatedTransaction | null,
  ready: readonly SettlementAttempt[],
): SimulatedTransaction | null {
  if (transaction === null || transaction.entries.length === ready.length) return transaction;
  return simulation.narrow(
    transaction,
    ready.map(({ payment }) => payment),
  );
}

/** The reason why the job must not be sent; null when it may be. */
async function admit(
  { wallets }: BatchParts,
  jobId: string,
  { walletCode, gas }: SimulatedTransaction,
  onTrouble: (error: unknown) => void,
): Promise<AttemptEnd | null> {
  if (walletCode === null) return null;
  try {
    const refusal = await wallets.admit(jobId, { code: walletCode, gas });
    if (refusal === 'contract_wallets_busy') return { outcome: 'unavailable', reason: refusal };
    return refusal && { outcome: 'refused', failure: refusal };
  } catch (error) {
    onTrouble(error);
    return { outcome: 'unavailable', reason: 'redis_unavailable' };
  }
}
