import type { Hex } from '@tollgate/protocol';

import { unavailableBy, type AttemptEnd, type Batch, type EarlyEnds } from './attempt.js';
import type { PaymentEntry } from './payments/payment-entry.js';
import type { Relayer } from './relayers/relayer.js';
import type { SettlementParts } from './settlement-parts.js';
import type { SimulatedTransaction, Simulation } from './simulation/simulation.js';

export interface Simulated {
  /** Null when nothing may be sent, and for a permit: its relayer, which may be another one, simulates it. */
  transaction: SimulatedTransaction | null;
  ends: EarlyEnds;
}

interface Outcome {
  transaction: SimulatedTransaction | null;
  excluded: ReadonlyMap<PaymentEntry, AttemptEnd>;
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
  const { attempts } = batch;
  const ends: EarlyEnds = new Map();
  try {
    const [{ transaction, excluded }, barred] = await Promise.all([
      simulateCalls(simulation, batch, lane.address),
      strikes.findBarred(attempts.map(({ payment }) => payment.payer)),
    ]);
    const atMs = nowMs();
    for (const attempt of attempts) {
      const { payment, sendBeforeMs } = attempt;
      const end = barred.has(payment.payer) ? BARRED : sendBeforeMs <= atMs ? TOO_LATE : excluded.get(payment);
      if (end) ends.set(attempt, end);
    }
    return { transaction, ends };
  } catch (error) {
    onTrouble(error);
    for (const attempt of attempts) ends.set(attempt, unavailableBy(error));
    return { transaction: null, ends };
  }
}

/** @throws ChainUnavailableError */
async function simulateCalls(
  simulation: Simulation,
  { attempts, isShared, isTried }: Batch,
  relayer: Hex,
): Promise<Outcome> {
  const payments = attempts.map(({ payment }) => payment);
  if (isShared) {
    const assumed = isTried ? simulation.assumeShared(payments) : null;
    const { transaction, excluded } = assumed ?? (await simulation.tryShared(payments, relayer));
    const ends = [...excluded].map(([payment, why]): [PaymentEntry, AttemptEnd] => [
      payment,
      { outcome: 'excluded', hasPayerCode: why === 'payer_has_code' },
    ]);
    return { transaction, excluded: new Map(ends) };
  }
  const [payment] = payments;
  if (payment === undefined || payment.kind === 'permit2') return { transaction: null, excluded: new Map() };
  const transaction = await simulation.tryAlone(payment, relayer);
  return { transaction, excluded: new Map(transaction === null ? [[payment, FAILS]] : []) };
}
