import type { Journal, LaneId, LaneRunner } from '@tollgate/journal';
import type { RefundNotes } from '@tollgate/verification';

import type { Flight } from './attempt.js';
import type { GasMemory } from './confirm.js';
import type { SettledChain } from './payments/explain-payment.js';
import type { EntryTerms } from './payments/payment-entry.js';
import type { Batcher, InFlightExposure } from './reserve.js';
import type { SettlementPlanner } from './settlement-job.js';
import type { Simulation, Strikes } from './simulate.js';
import type { ContractWallets } from './state/contract-wallets.js';
import type { JobWatch } from './state/job-watch.js';
import type { SettlementRecords } from './state/settlement-records.js';

/** What the stages of settlement use, whichever relayer settles. */
export interface SettlementParts extends EntryTerms {
  /** How long a payment may be redeemed after its block. */
  windowMs: number;
  /** An authorization that expires sooner than this is no longer sent. */
  leastValidityMs: number;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
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

/** One relayer of this process. */
export interface Relayer {
  lane: LaneId;
  runner: Pick<LaneRunner, 'launch' | 'wake'>;
  planner: Pick<SettlementPlanner, 'remember'>;
  batcher: Batcher;
  onTrouble: (error: unknown) => void;
}
