import type { ChainReader, RpcBatcher } from '@tollgate/chain';
import type { Journal } from '@tollgate/journal';
import type { AcceptedAssets, Deployments, RefundNotes } from '@tollgate/verification';

import type { Flight } from './attempt.js';
import type { SettlementRecords } from './batch.js';
import type { GasMemory } from './call-simulation.js';
import type { JobWatch } from './confirm.js';
import type { ContractWallets } from './contract-wallets.js';
import type { InFlightExposure } from './reserve.js';
import type { Simulation, Strikes } from './simulate.js';

/** What the stages of settlement use, whichever relayer settles. */
export interface SettlementParts {
  chainId: number;
  assets: AcceptedAssets;
  /** For which payments a payer's wallet may be deployed (EIP-6492). */
  deployments: Deployments;
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
  /** The chain clients that settlements are read with. */
  chain: { batcher: RpcBatcher; reader: ChainReader };
  refunds: RefundNotes;
  /** The longest time that an asker waits for the result. */
  waitMs: number;
  /** Aborted when this process stops: settlements in progress continue in the journal, and their askers get `pending`. */
  closing: AbortSignal;
  onTrouble: (error: unknown) => void;
}
