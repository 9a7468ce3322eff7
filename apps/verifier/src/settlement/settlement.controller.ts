import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Answers, SETTLE_SIGNED_PAYMENT, type SettlementResult } from '@tollgate/common';
import { parseSettleRequest, settle } from '@tollgate/settlement';

import { SettlementMetrics } from '../metrics/verifier-metrics.js';
import { AskersSettings } from '../settings/askers-settings.js';
import { parsePayload } from '../verification/parse-payload.js';
import { SETTLE_TRANSPORT, type SettleContext, SettlementService } from './settlement.service.js';

/** Takes the questions of the settle queue. */
@Controller()
export class SettlementController {
  constructor(
    @Inject(SettlementService) private readonly settlement: SettlementService,
    @Inject(AskersSettings) private readonly askers: AskersSettings,
    @Inject(SettlementMetrics) private readonly metrics: SettlementMetrics,
  ) {}

  @Answers(SETTLE_SIGNED_PAYMENT, SETTLE_TRANSPORT)
  async settle(@Payload() message: unknown, @Ctx() context: SettleContext): Promise<SettlementResult> {
    const { questionId, relayer, released } = context;
    const question = { ...parsePayload(message, parseSettleRequest), questionId };
    const fault = this.askers.findFault(message);
    if (fault !== null) return fault;
    const result = await settle(this.settlement.parts, relayer, question, released);
    this.metrics.answered(result);
    return result;
  }
}
