import type { ClaimedState, PresentedPurchase, PurchaseEnd } from '@tollgate/middleware/purchase';
import { DUPLICATE_SETTLEMENT, IDEMPOTENT_REPLAYED, signedAmountOf } from '@tollgate/protocol';

import {
  createAnswer,
  createBusyAnswer,
  createFinalAnswer,
  createOwedAnswer,
  createRefusedAnswer,
  createRetryAnswer,
  createUsedAnswer,
  unpackAnswer,
  type Answer,
  type PackedAnswer,
} from '../answer/answer.js';
import type { Look, PaymentClaims } from '../claim/claim.js';
import type { Showing } from '../claim/payment-record.js';
import type { PaymentTerms } from '../offer/challenge.js';
import { digest } from '../present/digest.js';
import { BrokenBodyError, nameOf, type GateRequest, type GatePayment } from '../present/shown-payment.js';
import { FacilitatorError } from '../verify/facilitator.js';
import {
  MiddlewareClaimedPurchase,
  type MiddlewareClaimedPurchaseParts,
  type Product,
  type Result,
} from './middleware-claimed-purchase.js';
import { closesAtMsOf, USED } from './payment-settler.js';

export interface MiddlewarePurchaseParts extends Omit<
  MiddlewareClaimedPurchaseParts,
  'claim' | 'onAdmitted' | 'isGone' | 'isRepeatable' | 'payment' | 'chainId'
> {
  readonly claims: PaymentClaims;
  readonly terms: PaymentTerms;
  readonly request: GateRequest;
  readonly shown: GatePayment;
  /** The resource's URL with the query. */
  readonly url: string;
}

type State =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'busy' | 'conflict' }
  | { readonly outcome: 'paused'; readonly retryAfterMs: number; readonly isReleased: boolean }
  | { readonly outcome: 'answered'; readonly packed: PackedAnswer | null }
  | { readonly outcome: 'refused' | 'unavailable'; readonly answer: Answer };

/** Such a request may be repeated without side effects. */
const SAFE_METHODS = new Set(['GET', 'QUERY']);

export type GateEnd = PurchaseEnd<State, Product, Result, Answer>;

/** The purchase of one request: a facilitator verifies and settles, the gate's store claims. */
export class MiddlewarePurchase implements PresentedPurchase<State, Product, Result, Answer> {
  /** Resolves when the handler is to run; until its response is delivered, the purchase goes no further. */
  readonly admitted: Promise<MiddlewareClaimedPurchase>;
  #onAdmitted: (sale: MiddlewareClaimedPurchase) => void = () => undefined;
  #look: Look | null = null;
  #sale: MiddlewareClaimedPurchase | null = null;

  constructor(private readonly parts: MiddlewarePurchaseParts) {
    this.admitted = new Promise((resolve) => (this.#onAdmitted = resolve));
  }

  async find(): Promise<State | null> {
    const { standing, pausedMs, record } = (this.#look = await this.parts.claims.look(await this.#show()));
    switch (standing) {
      case 'open':
        return null;
      case 'own':
        return { outcome: 'valid' };
      case 'busy':
        return { outcome: 'busy' };
      case 'paused':
        return { outcome: 'paused', retryAfterMs: pausedMs, isReleased: record?.state === 'claimed' };
      case 'other_request':
        return { outcome: 'conflict' };
      case 'answered':
      case 'not_kept':
        return { outcome: 'answered', packed: record?.answer ?? null };
      case 'owed':
        return { outcome: 'unavailable', answer: createOwedAnswer() };
      case 'used':
        return this.#refuse(DUPLICATE_SETTLEMENT);
    }
  }

  async verify(): Promise<State> {
    try {
      const { isValid, invalidReason = 'unexpected_verify_error' } = await this.parts.facilitator.verify(
        this.parts.question,
      );
      if (isValid) return { outcome: 'valid' };
      if (!USED.test(invalidReason)) return this.#refuse(invalidReason);
      const { shown, claims } = this.parts;
      return { outcome: 'unavailable', answer: createUsedAnswer(closesAtMsOf(shown.payment, claims.keepMs)) };
    } catch (error) {
      this.parts.onTrouble(error as Error);
      // No settlement was requested, so the payer has lost nothing.
      const isRefused = error instanceof FacilitatorError && error.isRefused;
      const answer = isRefused ? createRefusedAnswer() : createRetryAnswer(503, 'facilitator_unavailable');
      return { outcome: 'unavailable', answer };
    }
  }

  async claim(): Promise<State | ClaimedState<Product, Result>> {
    const claim = this.#look && (await this.parts.claims.claim(this.#look));
    if (claim === null) return { outcome: 'busy' };
    const { shown, terms, request } = this.parts;
    const { isGone = () => false } = request;
    this.#sale = new MiddlewareClaimedPurchase({
      ...this.parts,
      claim,
      payment: shown.payment,
      chainId: terms.chainId,
      isGone,
      isRepeatable: SAFE_METHODS.has(request.method),
      onAdmitted: this.#onAdmitted,
    });
    return { outcome: 'claimed', purchase: this.#sale };
  }

  explain(error: unknown): State {
    // Anyone can cause it with a payment that is not verified yet, so it is no trouble of this server.
    if (error instanceof BrokenBodyError)
      return { outcome: 'unavailable', answer: createAnswer(400, { error: 'incomplete_request' }) };
    this.parts.onTrouble(error as Error);
    return { outcome: 'unavailable', answer: createRetryAnswer(503, 'store_unavailable') };
  }

  async readAnswer({ packed }: { readonly packed: PackedAnswer | null }): Promise<Answer | null> {
    return packed && unpackAnswer(packed);
  }

  /** The answer that replaces the handler's response. */
  answerTo(end: GateEnd): Answer {
    switch (end.outcome) {
      case 'refused':
      case 'unavailable':
        return end.answer;
      case 'replayed':
      case 'reproduced':
        return { ...end.answer, headers: { ...end.answer.headers, [IDEMPOTENT_REPLAYED]: 'true' } };
      case 'paused':
        return createBusyAnswer(end.retryAfterMs, end.isReleased);
      case 'conflict':
        return createAnswer(409, { error: 'payment_for_another_request' });
      case 'gone':
        return createFinalAnswer('answer_not_kept');
      case 'not_settled':
        return end.result.answer;
      case 'committed':
        if (this.#sale !== null && end.product !== null) return this.#sale.answerMade(end.product.answer, end.settled);
        return createRetryAnswer(409, 'payment_in_progress');
      case 'busy':
      case 'released':
      case 'taken_over':
        return createRetryAnswer(409, 'payment_in_progress');
      case 'not_replayed':
        this.parts.onTrouble(end.error as Error);
        return createRetryAnswer(503, 'store_unavailable');
      case 'failed':
      case 'held':
      case 'store_unavailable':
        return createRetryAnswer(503, 'store_unavailable');
    }
  }

  #refuse(reason: string): State {
    return { outcome: 'refused', answer: this.parts.challenge.render(this.parts.resource, reason) };
  }

  async #show(): Promise<Showing> {
    const { request, url, challenge, terms } = this.parts;
    const { payment, secret } = this.parts.shown;
    const body = (await request.readBody?.()) ?? '';
    return {
      name: nameOf(payment, terms.chainId, terms.asset.address),
      request: await digest(request.method, url, body, JSON.stringify(payment)),
      secret: secret === null ? null : await digest(secret),
      isEnough: challenge.isMetBy(signedAmountOf(payment)),
    };
  }
}
