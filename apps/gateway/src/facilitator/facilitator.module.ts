import { Inject, Module } from '@nestjs/common';
import { observeCounts } from '@tollgate/common';
import { Registry } from 'prom-client';

import { AgentModule } from '../agent/agent.module.js';
import { PaywallModule } from '../paywall/paywall.module.js';
import { FacilitatorAccess } from './facilitator-access.js';
import { FacilitatorCounters } from './facilitator-counters.js';
import { FacilitatorLog } from './facilitator-log.js';
import { FacilitatorSettlement } from './facilitator-settlement.js';
import { FacilitatorVerification } from './facilitator-verification.js';
import { FacilitatorController } from './facilitator.controller.js';
import { ResourceListing } from './resource-listing.js';
import { ServedTerms } from './served-terms.js';
import { SupportedKinds } from './supported-kinds.js';

/** Serves everything below `/facilitator`: verifies and settles signed payments for other servers. */
@Module({
  imports: [PaywallModule, AgentModule],
  controllers: [FacilitatorController],
  providers: [
    ServedTerms,
    FacilitatorAccess,
    FacilitatorCounters,
    FacilitatorLog,
    FacilitatorVerification,
    FacilitatorSettlement,
    SupportedKinds,
    ResourceListing,
  ],
})
export class FacilitatorModule {
  constructor(@Inject(Registry) registry: Registry, @Inject(FacilitatorCounters) counters: FacilitatorCounters) {
    const help = 'Facilitator responses to other servers, by outcome.';
    observeCounts(registry, 'tollgate_facilitator_answers', help, () => counters.counts);
  }
}
