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

/** `headers`: to be set on what was sold. `answer`: to be given in its place. */
export type Settlement = { readonly headers: Readonly<Record<string, string>> } | { readonly answer: Answer };

/** As facilitators say that somebody, which may be this server, has used what was signed. */
const USED = /already[ _]?used|nonce[ _]?used|duplicate|is used/i;

/** A request whose payment is good, and not settled yet. `end` must be called, whatever became of it. */
export class PaidRequest {
  #settling: Promise<Settlement> | null = null;
  /** Whether something was asked of the facilitator, now or before, whose end is not known. */
  #isUnsure = false;

  constructor(private readonly parts: PaidRequestParts) {}

  /**
   * To be called when the answer is made and none of it has left. Never rejects.
   * @param isGone whether nobody is there any more to get it
   */
  settle(answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    this.#settling = this.#settle(answer, isGone).catch((error: unknown) => {
      this.parts.onTrouble(error as Error);
      return { answer: createRetryAnswer(503, 'store_unavailable') };
    });
    return this.#settling;
  }

  /** Once what is being settled is: the payment may then be shown again. Never rejects. */
  async end(): Promise<void> {
    await this.#settling;
    // The lease ends by itself where the store is away.
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
      // What was asked before may have moved it, whatever is refused now.
      await claim.end();
      return { answer: createRetryAnswer(503, SETTLEMENT_PENDING) };
    }
  }

  /** Once more where the first answer was lost, or says that the settlement is under way: the same key does no harm. */
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
      // Nobody can prove that an answer which is lost now was his: the same payment buys it again, once.
      const isOurs = isGone() && !claim.isProven ? await claim.settle(response) : await claim.sell(stored);
      if (!isOurs) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    } catch (error) {
      // It was paid for, and is at hand: who has it now may get it once more, and never nothing.
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
    // A 402 would have the payer pay for it once more; the answer would be anybody's who cancels what he has signed. Where
    // the first question is forgotten, whatever the second one is refused for may come of the first: a balance that it took.
    if (this.#isUnsure && (!knowsKey || USED.test(reason))) {
      onTrouble(new Error(`Whether ${claim.name} was settled for its payer is not known: ${reason}`));
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
