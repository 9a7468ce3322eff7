import {
  encodeJsonHeader,
  keepPrivate,
  PAYMENT_RESPONSE,
  SETTLEMENT_PENDING,
  X_PAYMENT_RESPONSE,
  type SettleResponse,
} from '@tollgate/protocol';

import {
  createAnswer,
  createRefusedAnswer,
  createRetryAnswer,
  packAnswer,
  type Answer,
  type SoldAnswer,
} from '../answer/answer.js';
import type { Claim } from '../claim/claim.js';
import type { AskedTerms } from '../claim/payment-record.js';
import type { Challenge } from '../offer/challenge.js';
import type { ClaimedPurchase, ReleaseTerms } from '../purchase/index.js';
import {
  FacilitatorError,
  type Facilitator,
  type FacilitatorQuestion,
  type SettleAnswer,
} from '../verify/facilitator.js';

export interface GatedSaleParts {
  readonly question: FacilitatorQuestion;
  readonly resource: string;
  readonly challenge: Challenge;
  readonly facilitator: Facilitator;
  readonly claim: Claim;
  readonly maxAnswerBytes: number;
  readonly onTrouble: (error: Error) => void;
  /** Called when the handler is to run. */
  readonly onAdmitted: (sale: GatedSale) => void;
}

/** The handler's response; null if it is not for sale: an error, or the client has disconnected. */
export type Product = { readonly answer: SoldAnswer; readonly isGone: () => boolean } | null;

type SettledResult = { readonly outcome: 'settled'; readonly response: SettleResponse };
export type Result =
  | SettledResult
  | { readonly outcome: 'failed'; readonly txHash: null; readonly answer: Answer }
  | { readonly outcome: 'pending' | 'unavailable'; readonly answer: Answer };

/** Facilitator reasons for a signature that has already been used, possibly by this server. */
const USED = /already[ _]?used|nonce[ _]?used|duplicate|is used/i;

/** Sells a handler's response, with a facilitator as settler and the gate's store. */
export class GatedSale implements ClaimedPurchase<Product, Result> {
  readonly settles: 'before' | 'after';
  readonly recordsSettlement = true;
  readonly leaseMs: number;
  readonly settled: SettledResult | null;
  readonly mayBeSettled: boolean;
  readonly #delivered: Promise<Product>;
  #deliver: (product: Product) => void = () => undefined;
  /** Whether a settlement was requested, now or earlier, whose result is unknown. */
  #isUnsure: boolean;
  #isDelivered = false;
  #isEnded = false;
  #pauseMs = 0;

  constructor(private readonly parts: GatedSaleParts) {
    const { claim } = parts;
    this.settles = parts.challenge.settles;
    this.leaseMs = claim.leaseMs;
    this.settled = claim.receipt ? { outcome: 'settled', response: claim.receipt } : null;
    this.mayBeSettled = this.#isUnsure = claim.wasAsked;
    this.#delivered = new Promise((resolve) => (this.#deliver = resolve));
  }

  /**
   * Only the first call counts.
   * @param pauseMs for how long the handler, which is busy, is to be left alone
   */
  deliver(product: Product, pauseMs = 0): void {
    this.#isDelivered ||= product !== null;
    if (!this.#isEnded) this.#pauseMs = pauseMs;
    this.#isEnded = true;
    this.#deliver(product);
  }

  pauseMsOf(): number {
    return this.#pauseMs;
  }

  renew(): Promise<boolean> {
    return this.parts.claim.renew();
  }

  produce(): Promise<Product> {
    this.parts.onAdmitted(this);
    return this.#delivered;
  }

  isCharged(product: Product): boolean {
    return product !== null;
  }

  amountOf(): bigint {
    return this.parts.challenge.amountBaseUnits;
  }

  async recordSettlement(amountBaseUnits: bigint): Promise<bigint | null> {
    const { claim, question } = this.parts;
    const { payTo } = question.paymentRequirements;
    return (await claim.ask({ payTo, amount: amountBaseUnits.toString() })) ? amountBaseUnits : null;
  }

  async settle(): Promise<Result> {
    try {
      const { response, knowsKey } = await this.#ask();
      if (!response.success) return this.#explain(response, knowsKey);
      // The handler may fail, or this process, before anything is committed.
      if (this.settles === 'before') await this.parts.claim.settle(response);
      return { outcome: 'settled', response };
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      this.parts.onTrouble(error);
      // An earlier request may have settled the payment, whatever the facilitator refuses now.
      if (!error.isRefused || this.#isUnsure)
        return { outcome: 'pending', answer: createRetryAnswer(503, SETTLEMENT_PENDING) };
      const answer = error.isTurnedAway ? createRefusedAnswer() : createRetryAnswer(503, 'facilitator_refused');
      return { outcome: 'unavailable', answer };
    }
  }

  async commit(product: Product, settled: SettledResult): Promise<boolean> {
    const { claim, maxAnswerBytes, onTrouble } = this.parts;
    if (product === null) return false;
    const { answer, isGone } = product;
    try {
      // Without a secret, no later request could prove that a response lost now belongs to it. So the payment stays
      // settled but unsold, and can buy one more response.
      if (isGone() && !claim.isProven) return (await claim.settle(settled.response)) && (await claim.end());
      const headers = { ...lowerNames(answer.headers), ...lowerNames(this.headersFor(answer, settled)) };
      return await claim.sell(claim.isProven ? packAnswer({ ...answer, headers }, maxAnswerBytes) : null);
    } catch (error) {
      // The response is paid for and ready, so it is sent: the payer might get it twice, but never not at all.
      onTrouble(error as Error);
      return true;
    }
  }

  async release({ mayBeSettled, pauseMs = 0 }: ReleaseTerms): Promise<boolean> {
    const { claim } = this.parts;
    try {
      if (pauseMs > 0) return await claim.pause(pauseMs);
      return await (mayBeSettled ? claim.end() : claim.forget());
    } catch (error) {
      // A claim that ends without a product expires silently.
      if (this.#isDelivered) this.parts.onTrouble(error as Error);
      throw error;
    }
  }

  /** Releases the claim after the store was unavailable. If it still is, the lease expires. */
  async giveUp(): Promise<void> {
    await this.parts.claim.end().catch(() => undefined);
  }

  reportFailure(error: unknown): 'store' {
    if (this.#isDelivered) this.parts.onTrouble(error as Error);
    return 'store';
  }

  /** The headers that a sold response gets. */
  headersFor({ headers }: SoldAnswer, { response }: SettledResult): Record<string, string> {
    const before = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cache-control');
    const cacheControl = keepPrivate(before?.[1]?.toString());
    return { ...this.#receiptOf(response), 'cache-control': cacheControl, 'accept-ranges': 'none' };
  }

  /**
   * Settles, and asks once more if the first response was lost or reports a pending settlement: with the same key this
   * is safe.
   */
  async #ask(): Promise<SettleAnswer> {
    const { facilitator, claim } = this.parts;
    const question = askedBefore(this.parts.question, claim.asked);
    const first = await facilitator.settle(question, claim.idempotencyKey).catch((error: unknown) => {
      if (error instanceof FacilitatorError && error.isRefused) throw error;
      return null;
    });
    if (first !== null && first.response.errorReason !== SETTLEMENT_PENDING) return first;
    this.#isUnsure = true;
    return facilitator.settle(question, claim.idempotencyKey);
  }

  #explain(response: SettleResponse, knowsKey: boolean): Result {
    const { claim, challenge, resource, onTrouble } = this.parts;
    const reason = response.errorReason ?? 'unexpected_settle_error';
    const headers = this.#receiptOf(response);
    if (reason === SETTLEMENT_PENDING) return { outcome: 'pending', answer: createRetryAnswer(503, reason, headers) };
    // The result is unknown. A 402 would make an honest payer pay twice. Sending the response would give it free to a
    // client that cancels its authorization. And if the facilitator ignores idempotency keys, any refusal of the second
    // request may be an effect of the first, such as a balance that it used up.
    if (this.#isUnsure && (!knowsKey || USED.test(reason))) {
      onTrouble(new Error(`It is unknown whether the payment ${claim.name} was settled for its payer: ${reason}`));
      return { outcome: 'pending', answer: createAnswer(409, { error: 'settlement_unknown', reason }, headers) };
    }
    return { outcome: 'failed', txHash: null, answer: challenge.render(resource, reason, headers) };
  }

  #receiptOf(response: SettleResponse): Record<string, string> {
    const name = this.parts.question.x402Version === 1 ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE;
    return { [name]: encodeJsonHeader(response) };
  }
}

/**
 * The same key means the same question. Price and recipient may have changed since the first one, which may have settled
 * the payment.
 */
function askedBefore(question: FacilitatorQuestion, asked: AskedTerms | undefined): FacilitatorQuestion {
  if (asked === undefined) return question;
  const { paymentRequirements: today } = question;
  const { payTo, amount } = asked;
  const price = 'amount' in today ? { amount } : { maxAmountRequired: amount };
  return { ...question, paymentRequirements: { ...today, payTo, ...price } };
}

function lowerNames<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
