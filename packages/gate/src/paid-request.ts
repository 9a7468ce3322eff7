import {
  encodeJsonHeader,
  PAYMENT_RESPONSE,
  SETTLEMENT_PENDING,
  X_PAYMENT_RESPONSE,
  type SettleResponse,
} from '@tollgate/protocol';

import { createAnswer, createRefusedAnswer, createRetryAnswer, keepPrivate, type Answer } from './answer.js';
import type { Challenge } from './challenge.js';
import type { Claim } from './claim.js';
import { FacilitatorError, type Facilitator, type FacilitatorQuestion, type SettleAnswer } from './facilitator.js';
import { packAnswer, type SoldAnswer } from './sold-answer.js';

export interface PaidRequestParts {
  readonly question: FacilitatorQuestion;
  readonly resource: string;
  readonly challenge: Challenge;
  readonly facilitator: Facilitator;
  readonly claim: Claim;
  readonly maxAnswerBytes: number;
  readonly onTrouble: (error: Error) => void;
}

/** `headers`: to be added to the sold response. `answer`: to be sent instead of it. */
export type Settlement = { readonly headers: Readonly<Record<string, string>> } | { readonly answer: Answer };

/** Facilitator reasons for a signature that has already been used, possibly by this server. */
const USED = /already[ _]?used|nonce[ _]?used|duplicate|is used/i;

/** A request with a valid payment that is not settled yet. `end` must be called in every case. */
export class PaidRequest {
  #settling: Promise<Settlement> | null = null;
  /** Whether a settlement was requested, now or earlier, whose result is unknown. */
  #isUnsure = false;

  constructor(private readonly parts: PaidRequestParts) {}

  /**
   * Must be called when the response is complete and none of it has been sent. Never rejects.
   * @param isGone whether the client has disconnected
   */
  settle(answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    this.#settling = this.#settle(answer, isGone).catch((error: unknown) => {
      this.parts.onTrouble(error as Error);
      return { answer: createRetryAnswer(503, 'store_unavailable') };
    });
    return this.#settling;
  }

  /**
   * Waits for a running settlement and releases the claim, so that the payment can be presented again. Never rejects.
   */
  async end(): Promise<void> {
    await this.#settling;
    // If the store is unavailable, the lease expires.
    await this.parts.claim.end().catch(() => undefined);
  }

  async #settle(answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    const { claim, onTrouble } = this.parts;
    this.#isUnsure = claim.wasAsked;
    if (!(await claim.ask())) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    try {
      const { response, knowsKey } = claim.receipt ? { response: claim.receipt, knowsKey: true } : await this.#ask();
      return await (response.success ? this.#sell(response, answer, isGone) : this.#refuse(response, knowsKey));
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      onTrouble(error);
      if (error.isRefused && !this.#isUnsure) {
        await claim.forget();
        return { answer: error.isTurnedAway ? createRefusedAnswer() : createRetryAnswer(503, 'facilitator_refused') };
      }
      // An earlier request may have settled the payment, whatever the facilitator refuses now.
      await claim.end();
      return { answer: createRetryAnswer(503, SETTLEMENT_PENDING) };
    }
  }

  /**
   * Settles, and asks once more if the first response was lost or reports a pending settlement: with the same key this
   * is safe.
   */
  async #ask(): Promise<SettleAnswer> {
    const { facilitator, question, claim } = this.parts;
    const first = await facilitator.settle(question, claim.idempotencyKey).catch((error: unknown) => {
      if (error instanceof FacilitatorError && error.isRefused) throw error;
      return null;
    });
    if (first !== null && first.response.errorReason !== SETTLEMENT_PENDING) return first;
    this.#isUnsure = true;
    return facilitator.settle(question, claim.idempotencyKey);
  }

  async #sell(response: SettleResponse, answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    const { claim, maxAnswerBytes, onTrouble } = this.parts;
    const before = Object.entries(answer.headers).find(([name]) => name.toLowerCase() === 'cache-control');
    const headers = { ...this.#receiptOf(response), 'cache-control': keepPrivate(before?.[1]?.toString()) };
    try {
      const stored = claim.isProven
        ? packAnswer({ ...answer, headers: { ...lowerNames(answer.headers), ...lowerNames(headers) } }, maxAnswerBytes)
        : null;
      // Without a secret, no later request could prove that a response lost now belongs to it. So the payment stays
      // settled but unsold, and can buy one more response.
      const isOurs = isGone() && !claim.isProven ? await claim.settle(response) : await claim.sell(stored);
      if (!isOurs) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    } catch (error) {
      // The response is paid for and ready, so it is sent: the payer might get it twice, but never not at all.
      onTrouble(error as Error);
    }
    return { headers };
  }

  async #refuse(response: SettleResponse, knowsKey: boolean): Promise<Settlement> {
    const { claim, challenge, resource, onTrouble } = this.parts;
    const reason = response.errorReason ?? 'unexpected_settle_error';
    const headers = this.#receiptOf(response);
    if (reason === SETTLEMENT_PENDING) {
      await claim.end();
      return { answer: createRetryAnswer(503, reason, headers) };
    }
    // The result is unknown. A 402 would make an honest payer pay twice. Sending the response would give it free to a
    // client that cancels its authorization. And if the facilitator ignores idempotency keys, any refusal of the second
    // request may be an effect of the first, such as a balance that it used up.
    if (this.#isUnsure && (!knowsKey || USED.test(reason))) {
      onTrouble(new Error(`It is unknown whether the payment ${claim.name} was settled for its payer: ${reason}`));
      await claim.end();
      return { answer: createAnswer(409, { error: 'settlement_unknown', reason }, headers) };
    }
    await claim.forget();
    return { answer: challenge.render(resource, reason, headers) };
  }

  #receiptOf(response: SettleResponse): Record<string, string> {
    const name = this.parts.question.x402Version === 1 ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE;
    return { [name]: encodeJsonHeader(response) };
  }
}

function lowerNames<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
