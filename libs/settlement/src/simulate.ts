import type { Hex } from '@tollgate/protocol';

import { unavailableBy, type AttemptEnd, type Batch, type EarlyEnds } from './attempts/attempt.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';
import type { BatchSimulation, SimulatedTransaction, Simulation } from './simulation/simulation.js';

export interface Simulated {
  /** Null when nothing may be sent, and for a permit: its relayer, which may be another one, simulates it. */
  transaction: SimulatedTransaction | null;
  ends: EarlyEnds;
}

const BARRED: AttemptEnd = { outcome: 'refused', failure: 'settlement_failed' };
const TOO_LATE: AttemptEnd = { outcome: 'refused', failure: 'authorization_expired' };
const FAILS: AttemptEnd = { outcome: 'refused', failure: 'simulation_failed' };

/** Simulates the batch as its relayer would send it. Returns the payments that must not be sent. */
export async function simulate(
  { simulation, strikes, nowMs }: Pick<SettlementParts, 'simulation' | 'strikes' | 'nowMs'>,
  { lane, onTrouble }: Pick<Relayer, 'lane' | 'onTrouble'>,
  batch: Batch,
): Promise<Simulated> {
  const { attempts, isShared, isTried } = batch;
  const ends: EarlyEnds = new Map();
  try {
    const payments = attempts.map(({ payment }) => payment);
    const [{ transaction, excluded }, barred] = await Promise.all([
      isShared ? simulation.tryShared(payments, lane.address, isTried) : tryAlone(simulation, batch, lane.address),
      strikes.findBarred(payments.map(({ payer }) => payer)),
    ]);
    const atMs = nowMs();
    for (const attempt of attempts) {
      const { payment, sendBeforeMs } = attempt;
      const why = excluded.get(payment);
      if (barred.has(payment.payer)) ends.set(attempt, BARRED);
      else if (sendBeforeMs <= atMs) ends.set(attempt, TOO_LATE);
      else if (why && isShared) ends.set(attempt, { outcome: 'excluded', hasPayerCode: why === 'payer_has_code' });
      else if (why) ends.set(attempt, FAILS);
    }
    return { transaction, ends };
  } catch (error) {
    onTrouble(error);
    for (const attempt of attempts) ends.set(attempt, unavailableBy(error));
    return { transaction: null, ends };
  }
}

/** @throws ChainUnavailableError */
async function tryAlone(
  simulation: Simulation,
  { attempts: [attempt] }: Batch,
  relayer: Hex,
): Promise<BatchSimulation> {
  const payment = attempt?.payment;
  if (payment === undefined || payment.kind === 'permit2') return { transaction: null, excluded: new Map() };
  const transaction = await simulation.tryAlone(payment, relayer);
  return { transaction, excluded: new Map(transaction === null ? [[payment, 'fails']] : []) };
}
