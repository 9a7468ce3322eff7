import type { Journal } from '@tollgate/journal';
import type { RefundNotes } from '@tollgate/verification';

import type { AttemptTerms, Flight } from './attempts/attempt.js';
import type { SettledChain } from './payments/explain-payment.js';
import type { Simulation, GasMemory } from './simulation/simulation.js';
import type { ContractWallets } from './state/contract-wallets.js';
import type { InFlightExposure } from './state/in-flight-exposure.js';
import type { JobWatch } from './state/job-watch.js';
import type { SettlementRecords } from './state/settlement-records.js';
import type { Strikes } from './state/strikes.js';

/** What the stages of settlement use, whichever relayer settles. */
export interface SettlementParts extends AttemptTerms {
  /** The settlements in progress in this process, by the name of their payment. */
  flights: Map<string, Flight>;
  exposure: InFlightExposure;
  records: SettlementRecords;
  strikes: Strikes;
  simulation: Simulation;
  wallets: ContractWallets;
  journal: Journal;
  jobs: JobWatch;
  gas: GasMemory;
  chain: SettledChain;
  refunds: RefundNotes;
  /** The longest time that an asker waits for the result. */
  waitMs: number;
  /** Aborted when this process stops: settlements in progress continue in the journal, and their askers get `pending`. */
  closing: AbortSignal;
  onTrouble: (error: unknown) => void;
}
