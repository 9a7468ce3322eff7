import { Inject, Module } from '@nestjs/common';
import { Registry } from 'prom-client';

import { VerifierConnections } from '../connections/verifier-connections.js';
import { observeRelayers } from '../metrics/observe-relayers.js';
import { VerificationModule } from '../verification/verification.module.js';
import { SETTLEMENT_PARTS, SettlementController } from './settlement.controller.js';
import { SettlementService } from './settlement.service.js';

/** Settles signed payments, where this process has a relayer's key. */
@Module({
  imports: [VerificationModule],
  controllers: [SettlementController],
  providers: [
    SettlementService,
    { provide: SETTLEMENT_PARTS, inject: [SettlementService], useFactory: ({ parts }: SettlementService) => parts },
  ],
  exports: [SettlementService],
})
export class SettlementModule {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(SettlementService) settlement: SettlementService,
    @Inject(VerifierConnections) { chain: { batcher }, nowMs }: VerifierConnections,
  ) {
    observeRelayers(registry, settlement, { chainId: settlement.parts.chainId, batcher, nowMs });
  }
}
