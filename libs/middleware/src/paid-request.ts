import {
  encodeJsonHeader,
  PAYMENT_RESPONSE,
  SETTLEMENT_PENDING,
  X_PAYMENT_RESPONSE,
  type SettleResponse,
} from '@tollgate/protocol';

import { createRetryAnswer, type Answer } from './answer.js';
import type { Challenge } from './challenge.js';
import { FacilitatorError, type Facilitator, type FacilitatorQuestion } from './facilitator.js';
import type { OpenPayments } from './open-payments.js';

export interface PaidRequestParts {
  readonly question: FacilitatorQuestion;
  readonly resource: string;
  readonly challenge: Challenge;
  readonly facilitator: Facilitator;
  readonly open: OpenPayments;
  /** Names the payment among the open ones. */
  readonly payment: string;
  readonly idempotencyKey: string;
  readonly onTrouble: (error: Error) => void;
}

/** `headers`: to be added to what was sold. `answer`: to be given in its place. */
export type Settlement = { readonly headers: Readonly<Record<string, string>> } | { readonly answer: Answer };

/** A request whose payment is good, and not settled yet. `end` must be called, whatever became of it. */
export class PaidRequest {
  constructor(private readonly parts: PaidRequestParts) {}

  /** To be called when the answer is made and none of it has left. Never throws. */
  async settle(): Promise<Settlement> {
    const { open, payment, idempotencyKey, onTrouble } = this.parts;
    try {
      const response = await this.#ask();
      if (response.errorReason === SETTLEMENT_PENDING) open.keep(payment, idempotencyKey);
      else open.forget(payment);
      return this.#describe(response);
    } catch (error) {
      const isRefused = error instanceof FacilitatorError && error.isRefused;
      if (!isRefused) open.keep(payment, idempotencyKey);
      onTrouble(error as Error);
      return { answer: createRetryAnswer(503, isRefused ? 'facilitator_refused' : SETTLEMENT_PENDING) };
    }
  }

  end(): void {
    this.parts.open.end(this.parts.payment);
  }

  /** Once more where the first answer was lost, or says that the settlement is under way: the same key does no harm. */
  async #ask(): Promise<SettleResponse> {
    const { facilitator, question, idempotencyKey } = this.parts;
    const first = await facilitator.settle(question, idempotencyKey).catch((error: unknown) => {
      if (error instanceof FacilitatorError && error.isRefused) throw error;
      return null;
    });
    if (first !== null && first.errorReason !== SETTLEMENT_PENDING) return first;
    return facilitator.settle(question, idempotencyKey);
  }

  #describe(response: SettleResponse): Settlement {
    const { challenge, resource, question } = this.parts;
    const name = question.x402Version === 1 ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE;
    const headers = { [name]: encodeJsonHeader(response) };
    if (response.success) return { headers };
    const reason = response.errorReason ?? 'unexpected_settle_error';
    if (reason === SETTLEMENT_PENDING) return { answer: createRetryAnswer(503, reason, headers) };
    return { answer: challenge.render(resource, reason, headers) };
  }
}
