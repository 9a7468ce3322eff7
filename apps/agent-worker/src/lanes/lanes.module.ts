import { Inject, Module } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { Chain, Journal } from '@tollgate/journal';
import { Registry } from 'prom-client';

import { AgentWorkerEnvironment } from '../config/agent-worker.config.js';
import { LaneTroubles } from '../connections/lane-troubles.js';
import { EventsModule } from '../events/events.module.js';
import { observeBalances } from '../metrics/observe-balances.js';
import { observeLanes } from '../metrics/observe-lanes.js';
import { PlanningModule } from '../planning/planning.module.js';
import { LaneFleet } from './lane-fleet.js';
import { ReadMinedNonceController } from './read-mined-nonce.controller.js';
import { WorkerReadiness } from './worker-readiness.js';

/** Carries out the jobs of the wallets. At the stop, Nest closes a module before those that it imports. */
@Module({
  imports: [PlanningModule, EventsModule],
  controllers: [ReadMinedNonceController],
  providers: [LaneFleet, WorkerReadiness],
  exports: [EventsModule, LaneFleet, WorkerReadiness],
})
export class LanesModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(Chain) chain: Chain,
    @Inject(Journal) journal: Journal,
    @Inject(WalletDirectory) directory: WalletDirectory,
    @Inject(AgentWorkerEnvironment) { ownWallets: wallets, redis }: AgentWorkerEnvironment,
    @Inject(LaneFleet) fleet: LaneFleet,
    @Inject(LaneTroubles) troubles: LaneTroubles,
  ) {
    const isHolding = (walletName: string): boolean => fleet.isHolding(walletName);
    const onTrouble = (walletName: string, error: unknown) => troubles.report(walletName, error);
    observeLanes(registry, { journal, directory, wallets, isHolding, bookLimit: redis.bookLimit, onTrouble });
    observeBalances(registry, { wallets, chain, isHolding });
  }
}
