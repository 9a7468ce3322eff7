import { Injectable } from '@nestjs/common';
import { ProblemError } from '@tollgate/http';

const RETRY_AFTER_MS = 2_000;

/** Counts of the facilitator's responses since the start; /metrics reads them. */
@Injectable()
export class FacilitatorCounters {
  readonly counts = { valid: 0, invalid: 0, settled: 0, replayed: 0, not_settled: 0, pending: 0, unavailable: 0 };

  /** The payment could not be verified and was not settled: the same request can be repeated. */
  unavailable(retryAfterMs = RETRY_AFTER_MS): ProblemError {
    this.counts.unavailable += 1;
    const detail = 'The payment cannot be verified or settled now. Send the same request again.';
    return new ProblemError({ status: 503, code: 'verification_unavailable', detail, retryAfterMs });
  }

  /**
   * A relayer accepted the payment and may submit it at any time: repeating the request returns the result. A 503,
   * because servers only poll `settlement_pending` if it names a transaction.
   */
  settling(): ProblemError {
    this.counts.pending += 1;
    const detail =
      'The payment is accepted for settlement, but not submitted in a transaction yet. Send the same request again.';
    return new ProblemError({ status: 503, code: 'settlement_pending', detail, retryAfterMs: RETRY_AFTER_MS });
  }
}
