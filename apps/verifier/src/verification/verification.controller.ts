import { Controller, Inject, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { SampledLogger } from '@tollgate/common';
import type { PaymentOption } from '@tollgate/config';
import { nonceOf, payerOf, type SignedPayment } from '@tollgate/protocol';
import {
  Answers,
  COMPARE_SETTINGS,
  VERIFY_CONTRACT_SIGNATURE,
  VERIFY_LOCK,
  VERIFY_PAYMENT,
  VERIFY_SIGNED_PAYMENT,
  type ContractSignatureVerdict,
  type LockVerdict,
  type QuestionOf,
  type SettingsComparison,
  type SignedPaymentVerdict,
  type VerifyPaymentVerdict,
} from '@tollgate/transport';
import { ContractSignatures, PaidLocks, PaymentVerifier, SignedPaymentVerifier } from '@tollgate/verification';

import { VerifierEnvironment } from '../config/verifier.config.js';
import { codeOf, optionLabelOf, VerifierMetrics } from '../metrics/verifier-metrics.js';
import { AskedOptions } from '../settings/asked-options.js';
import { TokenComparison } from '../settings/token-comparison.js';

@Controller()
export class VerificationController implements OnApplicationShutdown {
  readonly #logger = new Logger('Verification');
  readonly #refusals = new SampledLogger('Verification');

  constructor(
    @Inject(VerifierEnvironment) private readonly environment: VerifierEnvironment,
    @Inject(PaymentVerifier) private readonly verifier: PaymentVerifier,
    @Inject(SignedPaymentVerifier) private readonly signedVerifier: SignedPaymentVerifier,
    @Inject(ContractSignatures) private readonly contractSignatures: ContractSignatures,
    @Inject(PaidLocks) private readonly paidLocks: PaidLocks,
    @Inject(AskedOptions) private readonly asked: AskedOptions,
    @Inject(TokenComparison) private readonly tokens: TokenComparison,
    @Inject(VerifierMetrics) private readonly metrics: VerifierMetrics,
  ) {}

  @Answers(VERIFY_PAYMENT)
  async verify(@Payload() request: QuestionOf<typeof VERIFY_PAYMENT>): Promise<VerifyPaymentVerdict> {
    const startedAtMs = performance.now();
    const { option, fault } = this.asked.find(request, request.asset);
    const verdict = fault ?? (await this.verifier.verify(request));
    this.#count({ option: optionLabelOf(option), payment: 'transaction' }, verdict, startedAtMs);
    if (fault === null) this.#log(option, { txHash: request.txHash }, verdict, request);
    return verdict;
  }

  @Answers(VERIFY_SIGNED_PAYMENT)
  async verifySigned(@Payload() request: QuestionOf<typeof VERIFY_SIGNED_PAYMENT>): Promise<SignedPaymentVerdict> {
    const startedAtMs = performance.now();
    const { option, fault } = this.asked.find(request, request.terms.asset);
    const verdict = fault ?? (await this.signedVerifier.verify(request));
    this.#count({ option: optionLabelOf(option), payment: request.payment.kind }, verdict, startedAtMs);
    if (fault === null) this.#log(option, nameSignedPayment(request.payment), verdict, request);
    return verdict;
  }

  @Answers(VERIFY_CONTRACT_SIGNATURE)
  async verifyContractSignature(
    @Payload() request: QuestionOf<typeof VERIFY_CONTRACT_SIGNATURE>,
  ): Promise<ContractSignatureVerdict> {
    return this.asked.find(request).fault ?? this.contractSignatures.verify(request);
  }

  @Answers(VERIFY_LOCK)
  async verifyLock(@Payload() request: QuestionOf<typeof VERIFY_LOCK>): Promise<LockVerdict> {
    return this.asked.find(request, request.asset).fault ?? this.paidLocks.verify(request);
  }

  @Answers(COMPARE_SETTINGS)
  compareSettings(@Payload() question: QuestionOf<typeof COMPARE_SETTINGS>): SettingsComparison {
    const { option, fault } = this.asked.find(question);
    if (fault !== null) return fault;
    const takesAuthorizations = this.tokens.takesAuthorizations(option);
    return { outcome: 'agreed', ...(takesAuthorizations !== undefined && { takesAuthorizations }) };
  }

  onApplicationShutdown(): void {
    this.#refusals.flush();
  }

  #count(
    { option, payment }: { option: string; payment: 'transaction' | SignedPayment['kind'] },
    verdict: VerifyPaymentVerdict | SignedPaymentVerdict,
    startedAtMs: number,
  ): void {
    this.metrics.verifications.inc({ option, outcome: verdict.outcome, failure: codeOf(verdict), payment });
    this.metrics.verificationSeconds.observe({ option, payment }, (performance.now() - startedAtMs) / 1000);
  }

  #log(
    option: PaymentOption,
    payment: Record<string, string>,
    verdict: VerifyPaymentVerdict | SignedPaymentVerdict,
    { requestId, clientAddress: client }: { requestId: string; clientAddress: string },
  ): void {
    const { outcome } = verdict;
    const { option: name } = this.environment.nameOption(option);
    const shown = { ...(name !== null && { option: name }), ...payment };
    if (outcome !== 'refused' && outcome !== 'unavailable') {
      this.#logger.debug({ requestId, msg: `payment ${outcome}`, ...shown });
      return;
    }
    const failure = codeOf(verdict);
    const msg = outcome === 'refused' ? 'payment refused' : 'payment not judged';
    this.#refusals.log({ client, reason: failure }, { requestId, msg, ...shown, failure });
  }
}

/** The payment's name in the log is its payer and nonce. The signature must stay out: it is as good as the money. */
function nameSignedPayment(payment: SignedPayment): { payer: string; nonce: string } {
  return { payer: payerOf(payment), nonce: nonceOf(payment) };
}
