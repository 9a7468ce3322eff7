import { Controller, Inject, Logger } from '@nestjs/common';
import { MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { VERIFY_PAYMENT, type VerifyPaymentRequest, type VerifyPaymentVerdict } from '@tollgate/common';

import { MalformedMessageError } from '../message-fields.js';
import { VerifierMetrics } from '../metrics/verifier-metrics.js';
import { parseVerifyPaymentRequest } from './parse-verify-payment-request.js';
import { PaymentVerifier } from './payment-verifier.js';

@Controller()
export class VerificationController {
  private readonly logger = new Logger('Verification');

  constructor(
    @Inject(PaymentVerifier) private readonly verifier: PaymentVerifier,
    @Inject(VerifierMetrics) private readonly metrics: VerifierMetrics,
  ) {}

  @MessagePattern(VERIFY_PAYMENT)
  async verify(@Payload() message: unknown): Promise<VerifyPaymentVerdict> {
    const startedAtMs = performance.now();
    const request = this.parse(message);
    const verdict = await this.verifier.verify(request);
    this.metrics.verdictGiven(verdict, (performance.now() - startedAtMs) / 1000);
    this.log(request, verdict);
    return verdict;
  }

  private parse(message: unknown): VerifyPaymentRequest {
    try {
      return parseVerifyPaymentRequest(message);
    } catch (error) {
      if (error instanceof MalformedMessageError) throw new RpcException(error.message);
      throw error;
    }
  }

  private log({ txHash }: VerifyPaymentRequest, verdict: VerifyPaymentVerdict): void {
    switch (verdict.outcome) {
      case 'refused':
        return this.logger.log({ msg: 'payment refused', txHash, failure: verdict.failure });
      case 'unavailable':
        return this.logger.log({ msg: 'payment not judged', txHash, failure: verdict.reason });
      default:
        return this.logger.debug({ msg: `payment ${verdict.outcome}`, txHash });
    }
  }
}
