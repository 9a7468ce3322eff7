import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { observeCounts } from '@tollgate/common';
import { Registry } from 'prom-client';

import { GatewayEnvironment } from '../config/gateway.config.js';
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
@Module({})
export class FacilitatorModule {
  constructor(@Inject(Registry) registry: Registry, @Inject(FacilitatorCounters) counters: FacilitatorCounters) {
    observeCounts(
      registry,
      'tollgate_facilitator_answers',
      'Facilitator responses to other servers, by outcome.',
      counters,
    );
  }

  /** @param modules those that verify payments and authenticate API keys */
  static forRoot({ payment, facilitator }: GatewayEnvironment, modules: readonly DynamicModule[]): DynamicModule {
    return {
      module: FacilitatorModule,
      imports: [...modules],
      controllers: [FacilitatorController],
      providers: [
        { provide: ServedTerms, useValue: new ServedTerms(payment, facilitator.assets) },
        FacilitatorAccess,
        FacilitatorCounters,
        FacilitatorLog,
        FacilitatorVerification,
        FacilitatorSettlement,
        SupportedKinds,
        ResourceListing,
      ],
    };
  }
}
