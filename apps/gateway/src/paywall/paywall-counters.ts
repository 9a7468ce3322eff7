import type { PaymentFailure } from '@tollgate/protocol';

import type { AnswerOrigin } from './answer.js';

/**
 * What happened since the start, as plain numbers: the unpaid 402 has no time for more. /metrics reads them.
 */
export class PaywallCounters {
  unpaid = 0;
  inFlight = 0;
  readonly refusals = new Map<PaymentFailure, number>();
  readonly answers: Record<AnswerOrigin, number> = { paid: 0, replayed: 0, reproduced: 0, released: 0 };
  /** Answers as problem+json, by code. */
  readonly problems = new Map<string, number>();

  countRefusal(failure: PaymentFailure): void {
    this.refusals.set(failure, (this.refusals.get(failure) ?? 0) + 1);
  }

  countProblem(code: string): void {
    this.problems.set(code, (this.problems.get(code) ?? 0) + 1);
  }
}
