import type { ClaimedPurchase, ReleaseTerms } from '@tollgate/middleware/purchase';
import {
  encodeJsonHeader,
  IDEMPOTENT_REPLAYED,
  keepPrivate,
  PAYMENT_RESPONSE,
  payerOf,
  SETTLEMENT_PENDING,
  X_PAYMENT_RESPONSE,
  type SettleResponse,
} from '@tollgate/protocol';

import {
  createOwedAnswer,
  createRefusedAnswer,
  createRetryAnswer,
  createUsedAnswer,
  packAnswer,
  unpackAnswer,
  type Answer,
  type SoldAnswer,
} from '../answer/answer.js';
import type { Claim } from '../claim/claim.js';
import type { Challenge } from '../offer/challenge.js';
import type { OwedPayment } from './gate-options.js';
import { closesAtMsOf, PaymentSettler, type PaymentSettlerParts, type SettlementVerdict } from './payment-settler.js';

export interface MiddlewareClaimedPurchaseParts extends PaymentSettlerParts {
  readonly resource: string;
  readonly challenge: Challenge;
  readonly claim: Claim;
  readonly chainId: number;
  readonly maxAnswerBytes: number;
  readonly onOwed: (owed: OwedPayment) => unknown;
  /** Whether the handler may run once more for a client that has lost the response. */
  readonly isRepeatable: boolean;
  /** Whether the client of this request has disconnected. */
  readonly isGone: () => boolean;
  /** Called when the handler is to run. */
  readonly onAdmitted: (sale: MiddlewareClaimedPurchase) => void;
}

/** The handler's response; null if it is not for sale: an error, or the client has disconnected. */
export type Product = { readonly answer: SoldAnswer; readonly isGone: () => boolean } | null;

type SettledResult = { readonly outcome: 'settled'; readonly response: SettleResponse };
export type Result =
  | SettledResult
  | { readonly outcome: 'failed'; readonly txHash: null; readonly answer: Answer }
  | { readonly outcome: 'pending' | 'unavailable'; readonly answer: Answer };

/** Sells a handler's response, with a facilitator as settler and the gate's store. */
export class MiddlewareClaimedPurchase implements ClaimedPurchase<Product, Result> {
  readonly settles: 'before' | 'after';
  readonly recordsSettlement = true;
  readonly leaseMs: number;
  readonly settled: SettledResult | null;
  readonly mayBeSettled: boolean;
  readonly #isAgain: boolean;
  readonly #settler: PaymentSettler;
  readonly #delivered: Promise<Product>;
  #deliver: (product: Product) => void = () => undefined;
  #product: Product = null;
  #isEnded = false;
  #pauseMs = 0;

  constructor(private readonly parts: MiddlewareClaimedPurchaseParts) {
    const { claim } = parts;
    this.settles = parts.challenge.settles;
    this.leaseMs = claim.leaseMs;
    this.settled = claim.receipt ? { outcome: 'settled', response: claim.receipt } : null;
    this.mayBeSettled = claim.wasAsked;
    this.#isAgain = claim.wasSent;
    this.#settler = new PaymentSettler(parts);
    this.#delivered = new Promise((resolve) => (this.#deliver = resolve));
  }

  /** Whether the payment was not settled, nor was to be, so that it can be used for another request. */
  get isUnsettled(): boolean {
    return !this.mayBeSettled && this.settles === 'after';
  }

  /**
   * Only the first call counts.
   * @param pauseMs for how long the handler, which is busy, is to be left alone
   */
  deliver(product: Product, pauseMs = 0): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#pauseMs = pauseMs;
    this.#product = product;
    this.#deliver(product);
  }

  pauseMsOf(): number {
    return this.#pauseMs;
  }

  renew(): Promise<boolean> {
    return this.parts.claim.renew();
  }

  /** Runs the handler, unless an earlier request has: then what it made is sold. */
  produce(): Promise<Product> {
    const { claim, isGone, onAdmitted } = this.parts;
    if (claim.made === undefined) onAdmitted(this);
    else this.deliver({ answer: unpackAnswer(claim.made), isGone });
    return this.#delivered;
  }

  isCharged(product: Product): boolean {
    return product !== null;
  }

  amountOf(): bigint {
    return this.parts.challenge.amountBaseUnits;
  }

  async recordSettlement(amountBaseUnits: bigint): Promise<bigint | null> {
    const { claim, maxAnswerBytes } = this.parts;
    const terms = claim.asked ?? (await this.#settler.begin(amountBaseUnits, claim.keepMs));
    const made = this.#product && packAnswer(this.#product.answer, maxAnswerBytes);
    return (await claim.ask(terms, made)) ? amountBaseUnits : null;
  }

  async settle(): Promise<Result> {
    const { claim, challenge, resource, payment } = this.parts;
    const { asked } = claim;
    if (asked === undefined) throw new Error('The settlement was not recorded.');
    const verdict = await this.#settler.conclude(claim.idempotencyKey, asked, this.mayBeSettled);
    switch (verdict.outcome) {
      case 'settled':
        // The handler may fail, or this process, before anything is committed.
        if (this.settles === 'before') await claim.settle(verdict.response);
        return verdict;
      case 'failed': {
        const { reason, response } = verdict;
        return {
          outcome: 'failed',
          txHash: null,
          answer: challenge.render(resource, reason, this.#receiptOf(response)),
        };
      }
      case 'turned_away':
        return { outcome: 'unavailable', answer: createRefusedAnswer() };
      case 'used':
        return { outcome: 'unavailable', answer: createUsedAnswer(closesAtMsOf(payment, claim.keepMs)) };
      case 'unknown':
        return { outcome: 'pending', answer: await this.#await(verdict) };
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
      if (!claim.isProven) return await claim.sell(null);
      const packed = packAnswer(this.#withReceipt(answer, settled), maxAnswerBytes);
      const isMadeAgain = packed === null && this.parts.isRepeatable;
      return await (isMadeAgain ? claim.send(settled.response) : claim.sell(packed));
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
      if (this.#product !== null) this.parts.onTrouble(error as Error);
      throw error;
    }
  }

  /** Releases the claim after the store was unavailable. If it still is, the lease expires. */
  async giveUp(): Promise<void> {
    await this.parts.claim.end().catch(() => undefined);
  }

  reportFailure(error: unknown): 'store' {
    if (this.#product !== null) this.parts.onTrouble(error as Error);
    return 'store';
  }

  /** The headers that a sold response gets. */
  headersFor({ headers }: SoldAnswer, { response }: SettledResult): Record<string, string> {
    const before = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cache-control');
    const cacheControl = keepPrivate(before?.[1]?.toString());
    const again = this.#isAgain ? { [IDEMPOTENT_REPLAYED]: 'true' } : {};
    return { ...this.#receiptOf(response), ...again, 'cache-control': cacheControl, 'accept-ranges': 'none' };
  }

  /** The response to a request whose handler has run before. */
  answerMade(made: SoldAnswer, settled: SettledResult): Answer {
    const packed = packAnswer(this.#withReceipt(made, settled), Infinity);
    if (packed === null) throw new TypeError('What was stored is not whole.');
    return unpackAnswer(packed);
  }

  /** The response while the result is unknown: a 402 would make an honest payer pay twice. */
  async #await({ reason, response }: SettlementVerdict & { outcome: 'unknown' }): Promise<Answer> {
    const { claim, onTrouble } = this.parts;
    const isRefused = response !== null && reason !== SETTLEMENT_PENDING;
    if (isRefused)
      onTrouble(new Error(`It is unknown whether the payment ${claim.name} was settled for its payer: ${reason}`));
    if (await this.#giveUpAwaiting()) return createOwedAnswer();
    const receipt = response === null ? {} : this.#receiptOf(response);
    if (reason === SETTLEMENT_PENDING) return createRetryAnswer(503, SETTLEMENT_PENDING, receipt);
    if (response === null) return createRetryAnswer(503, 'facilitator_refused');
    return createRetryAnswer(503, 'settlement_unknown', receipt, { reason });
  }

  /** Whether the payment was awaited for long enough, and the owner of this server knows. */
  async #giveUpAwaiting(): Promise<boolean> {
    const { claim, onOwed, onTrouble, payment, question, chainId, resource } = this.parts;
    if (claim.asked === undefined || Date.now() < claim.asked.closesAtMs) return false;
    const { payTo, amount: amountBaseUnits } = claim.asked;
    const { asset } = question.paymentRequirements;
    try {
      await onOwed({ payment: claim.name, chainId, payer: payerOf(payment), payTo, asset, amountBaseUnits, resource });
      return await claim.owe();
    } catch (error) {
      // The next request tells it again.
      onTrouble(error as Error);
      return false;
    }
  }

  #withReceipt(answer: SoldAnswer, settled: SettledResult): SoldAnswer {
    return { ...answer, headers: { ...lowerNames(answer.headers), ...lowerNames(this.headersFor(answer, settled)) } };
  }

  #receiptOf(response: SettleResponse): Record<string, string> {
    const name = this.parts.question.x402Version === 1 ? X_PAYMENT_RESPONSE : PAYMENT_RESPONSE;
    return { [name]: encodeJsonHeader(response) };
  }
}

function lowerNames<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
