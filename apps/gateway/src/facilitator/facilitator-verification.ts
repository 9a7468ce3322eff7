import { Inject, Injectable } from '@nestjs/common';
import type { ApiKey } from '@tollgate/http';
import {
  facilitatorReasonFor,
  reasonsOf,
  type MethodReasons,
  type PaymentFailure,
  type VerifyResponse,
} from '@tollgate/protocol';
import type { SignedPaymentVerdict } from '@tollgate/transport';

import { FacilitatorCounters } from './facilitator-counters.js';
import { parseFacilitatorRequest } from './parse-facilitator-request.js';
import { ServedTerms } from './served-terms.js';

export interface Asker {
  readonly requestId: string;
  readonly clientAddress: string;
  /** Null for a request without API key. */
  readonly key: ApiKey | null;
}

/** Verifies a signed payment against payment requirements. Nothing is claimed or settled. */
@Injectable()
export class FacilitatorVerification {
  constructor(
    @Inject(ServedTerms) private readonly served: ServedTerms,
    @Inject(FacilitatorCounters) private readonly counters: FacilitatorCounters,
  ) {}

  /** @throws ProblemError for a malformed or forbidden request, and if the payment cannot be verified now */
  async verify(body: unknown, { key, ...asker }: Asker): Promise<VerifyResponse> {
    const request = parseFacilitatorRequest(body);
    const served = this.served.read(request, key);
    if ('reason' in served)
      return this.#count({ isValid: false, invalidReason: served.reason, invalidMessage: served.message });
    const { judged, terms, payment } = served;
    const verdict = await judged.signedPayments.look({ ...asker, terms, payment });
    return this.#count(this.#describe(verdict, request.version, reasonsOf(served.payment)));
  }

  #describe(verdict: SignedPaymentVerdict, version: 1 | 2, reasons: MethodReasons): VerifyResponse {
    const refuse = (failure: PaymentFailure, payer?: string): VerifyResponse => ({
      isValid: false,
      invalidReason: facilitatorReasonFor(failure, version, reasons),
      invalidMessage: failure,
      ...(payer !== undefined && { payer }),
    });
    switch (verdict.outcome) {
      case 'valid':
      case 'claimed':
        return { isValid: true, payer: verdict.payer };
      case 'refused':
        return refuse(verdict.failure, verdict.payer);
      case 'answered':
      case 'busy':
      case 'conflict':
        return refuse('payment_used');
      case 'paused':
      case 'unavailable':
        throw this.counters.unavailable(verdict.retryAfterMs);
    }
  }

  #count(response: VerifyResponse): VerifyResponse {
    this.counters.counts[response.isValid ? 'valid' : 'invalid'] += 1;
    return response;
  }
}
