import type { PaymentId } from '@tollgate/ledger';
import type {
  ClaimedState,
  Fulfilment,
  PresentedPurchase,
  PurchaseEnd,
  Unsettled,
} from '@tollgate/middleware/purchase';
import { type Hex, type PaymentFailure, type SignedPayment, payerOf } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import {
  QueueFullError,
  VERIFY_PAYMENT,
  type SettlementResult,
  type SignedPaymentVerdict,
  type VerifyPaymentVerdict,
} from '@tollgate/transport';

import { reasonOf } from '../signed-payments/signed-payments.js';
import type { Verifiers } from '../verifiers/agreeing-verifiers.js';
import { keepHeaders } from './answer/answer-headers.js';
import {
  answerBusy,
  answerConflict,
  answerForeignChallenge,
  answerGone,
  answerIdentifierReused,
  answerPaused,
  answerSettling,
  answerUnconfirmed,
  answerUnavailable,
  answerUnbound,
  answerUpstreamError,
  type OrderAnswer,
  type ProblemAnswer,
  type ResourceAnswer,
  MAX_REPRODUCTIONS,
  produceAgain,
} from './answer/answer.js';
import {
  createFailureHeaders,
  createSettlementHeaders,
  decodeReceipt,
  type MadePayment,
} from './answer/settlement-headers.js';
import { pauseMsOf, tellPause } from './fulfil/busy.js';
import {
  GatewayClaimedPurchase,
  type GatewayClaimedPurchaseParts,
  type OrderClaim,
  type OrderResult,
} from './fulfil/gateway-claimed-purchase.js';
import { createResourceRequest } from './fulfil/resource-request.js';
import { isReferenceUnknown, retryKeyOf, type Order, type TransactionInstrument } from './present/purchase.js';
import { makeReadable } from './route/content-coding.js';
import { isCharged, type ProducedAnswer } from './route/paid-route.js';
import { createSignedQuestion, createTransactionQuestion, entryOf } from './verify/verify-questions.js';

export interface OrderParts extends GatewayClaimedPurchaseParts {
  readonly verifier: Verifiers;
}

type Claim = { readonly outcome: 'claimed' } & OrderClaim;
type State =
  /** The payer already used this payment identifier for another payment. */
  | { readonly outcome: 'identifier_reused' }
  | Exclude<VerifyPaymentVerdict | SignedPaymentVerdict, { outcome: 'claimed' }>;

type Replayed = ResourceAnswer | ProblemAnswer;
export type OrderEnd = PurchaseEnd<State, ProducedAnswer, OrderResult, Replayed>;

/** Such a request may be repeated without side effects. */
const SAFE_METHODS = new Set(['GET', 'QUERY']);

/** An order with the payment it presents: known to the ledger, or verified and claimed in one step by a verifier process. */
export class GatewayPurchase implements PresentedPurchase<State, ProducedAnswer, OrderResult, Replayed> {
  #claimed: GatewayClaimedPurchase | null = null;

  constructor(
    private readonly parts: OrderParts,
    private readonly order: Order,
  ) {}

  /** Undefined unless the payment was claimed for this order. */
  get payer(): Hex | undefined {
    return this.#claimed?.payer;
  }

  /** A repeat is known to the ledger. Any other payment is verified and claimed in one step by a verifier process. */
  async verify(): Promise<State | ClaimedState<ProducedAnswer, OrderResult>> {
    const verdict = (await this.#find()) ?? (await this.#ask());
    // A payment that has bought something else, by a reference that is none of this request's.
    if (verdict.outcome === 'conflict' && isReferenceUnknown(this.order.purchase))
      return { outcome: 'refused', failure: 'unknown_reference' };
    if (verdict.outcome !== 'claimed') return verdict;
    this.#claimed = new GatewayClaimedPurchase(this.parts, this.order, verdict);
    return { outcome: 'claimed', purchase: this.#claimed };
  }

  explain(error: unknown): State {
    return { outcome: 'unavailable', reason: reasonOf(error) };
  }

  /** The stored answer; null where there is none, or none that this client reads. */
  async readAnswer({ id }: { readonly id: PaymentId }): Promise<ResourceAnswer | null> {
    const stored = await this.parts.ledger.readAnswer(id);
    if (stored === null) return null;
    const accepted = this.order.headers['accept-encoding'];
    const readable = await makeReadable(stored, accepted, this.parts.maxStoredAnswerBytes);
    return readable && { kind: 'resource', origin: 'replayed', status: stored.status, ...readable };
  }

  /**
   * Produces the answer of a spent payment again; null if that is not safe, or was done too often. Only an answer that
   * would be charged counts, since the payer has paid: an upstream that restarts must not use up its attempts.
   */
  async reproduce({ id }: { readonly id: PaymentId }): Promise<Replayed | null> {
    const { purchase } = this.order;
    const { ledger } = this.parts;
    if (!SAFE_METHODS.has(purchase.method)) return null;
    const made = await this.#findMade(id);
    const count = await ledger.countReproduction(id, MAX_REPRODUCTIONS);
    if (count.outcome === 'paused') return answerPaused(count.retryAfterMs, false);
    if (count.outcome === 'exhausted') return null;
    const grounds = { payment: id, txHash: made?.txHash ?? null, signal: new AbortController().signal };
    const { route } = purchase.endpoint;
    let [isAnswered, pauseMs] = [false, 0];
    try {
      const answer = await produceAgain(route.resource, createResourceRequest(this.order, grounds), 'reproduced');
      if (answer.kind === 'problem') return answer;
      isAnswered = isCharged(route, answer);
      pauseMs = pauseMsOf(answer, Date.now());
      const receipt = made && createSettlementHeaders(purchase, made, { status: answer.status, nowMs: Date.now() });
      const headers = [...tellPause(answer.headers, pauseMs), ...(receipt ?? [])];
      return { ...answer, headers, isFailed: !isAnswered };
    } finally {
      if (!isAnswered) await ledger.giveBackReproduction(id, pauseMs).catch(() => undefined);
    }
  }

  /** The settled payment of a response that was not stored; null where its receipt is gone. */
  async #findMade(id: PaymentId): Promise<MadePayment | null> {
    const { instrument } = this.order.purchase;
    if (instrument.kind === 'transaction') return { txHash: instrument.txHash, payer: undefined };
    const text = await this.parts.ledger.readReceipt(id);
    const kept = text === null ? null : decodeReceipt(text);
    return kept && { ...kept, payer: payerOf(instrument) };
  }

  /** The answer to the request, once the purchase has ended. */
  answerTo(end: OrderEnd): OrderAnswer {
    switch (end.outcome) {
      case 'busy':
        return answerBusy(end.retryAfterMs);
      case 'paused':
        return answerPaused(end.retryAfterMs, true);
      case 'conflict':
        return answerConflict();
      case 'identifier_reused':
        return answerIdentifierReused();
      case 'unavailable':
        return answerUnavailable(end.retryAfterMs);
      case 'refused':
        return this.#refuse(end.failure, end.retryAfterMs);
      case 'replayed':
      case 'reproduced':
        return end.answer;
      case 'gone':
        return answerGone(SAFE_METHODS.has(this.order.purchase.method));
      case 'not_replayed':
        this.parts.reportFailure(end.error, this.order);
        return end.error instanceof StoreError ? answerUnavailable() : answerUpstreamError(end.error, false);
      default:
        return this.#answerFulfilled(end);
    }
  }

  /**
   * Clients of x402 v2 and MPP pay each challenge that they get. So while the chain has yet to mine or confirm their
   * transaction, only the documented form, which demands a 402, gets one.
   */
  #refuse(failure: PaymentFailure, retryAfterMs: number | undefined): OrderAnswer {
    const { form, instrument } = this.order.purchase;
    if (instrument.kind === 'transaction' && form !== 'documented') {
      if (failure === 'receipt_missing' || failure === 'not_confirmed') return answerUnconfirmed(retryAfterMs);
      if (form === 'mpp' && failure === 'not_bound') return answerUnbound();
    }
    return { kind: 'refused', failure, retryAfterMs, headers: [] };
  }

  #answerFulfilled(end: Fulfilment<ProducedAnswer, OrderResult>): OrderAnswer {
    const body = this.#claimed?.body ?? null;
    if (end.outcome === 'committed' && body !== null) {
      const { txHash, amountBaseUnits } = end.settled;
      const headers = this.#claimed?.headers ?? [];
      const facts = { status: end.product.status, headers, txHash: txHash ?? undefined };
      return { kind: 'resource', origin: 'paid', ...facts, body, amountBaseUnits };
    }
    if (end.outcome === 'released' && body !== null && end.product.status !== 402) {
      const { status } = end.product;
      const headers = tellPause(keepHeaders(end.product.headers, body), this.#claimed?.pauseMs ?? 0);
      return { kind: 'resource', origin: 'released', status, headers, body };
    }
    if (body !== null && !Buffer.isBuffer(body)) body.destroy();
    switch (end.outcome) {
      case 'committed':
      case 'released':
        return answerForeignChallenge(true);
      case 'failed':
      case 'held':
        return answerUpstreamError(end.error, end.outcome === 'failed');
      case 'taken_over':
        // Another holder took over the payment while this response was being produced.
        return answerBusy();
      case 'store_unavailable':
        return answerUnavailable();
      case 'not_settled':
        return this.#explainUnsettled(end.result);
    }
  }

  #explainUnsettled(result: Unsettled<SettlementResult>): OrderAnswer {
    switch (result.outcome) {
      case 'failed': {
        const { failure } = result;
        return { kind: 'refused', failure, headers: createFailureHeaders(this.order.purchase, failure) };
      }
      case 'pending':
        return answerSettling();
      case 'unavailable':
        return answerUnavailable(result.retryAfterMs);
    }
  }

  async #find(): Promise<State | null> {
    const { purchase, caller } = this.order;
    const { ledger, terms } = this.parts;
    const retryKey = retryKeyOf(purchase);
    if (retryKey === null) return null;
    const found = await ledger.find({ ...entryOf(purchase, terms), fingerprint: caller.fingerprint, retryKey });
    return found.outcome === 'none' ? null : found;
  }

  #ask(): Promise<State | Claim> {
    const { instrument } = this.order.purchase;
    return instrument.kind === 'transaction' ? this.#verifyTransaction(instrument) : this.#verifySigned(instrument);
  }

  async #verifyTransaction(instrument: TransactionInstrument): Promise<State | Claim> {
    const { ledger, verifier, terms } = this.parts;
    const question = createTransactionQuestion(this.order, instrument, terms, ledger.nowMs());
    const { requestId, chainId, txHash, owner } = question;
    // Releases the claim of a verifier whose reply was lost. If this fails, or it is the claim of an authorization that
    // the transaction settled, which has an entry of its own, its deadline and its lease release it later.
    const giveUp = () => ledger.releaseOwner({ chainId, txHash }, owner).catch(() => undefined);
    try {
      const verdict = await verifier.ask(VERIFY_PAYMENT, question, {
        timeoutMs: terms.verifyDeadlineMs,
        retryAfterMs: terms.verifyRetryMs,
        requestId,
      });
      if (verdict.outcome === 'unavailable') await giveUp();
      return verdict.outcome === 'claimed' ? { ...verdict, txHash: instrument.txHash } : verdict;
    } catch (error) {
      if (!(error instanceof QueueFullError)) await giveUp();
      throw error;
    }
  }

  async #verifySigned(payment: SignedPayment): Promise<State | Claim> {
    const { purchase, caller } = this.order;
    const { signedPayments, terms } = this.parts;
    const keys = {
      fingerprint: caller.fingerprint,
      retryKey: retryKeyOf(purchase),
      ...(purchase.mustBeSettled && { mustBeSettled: true as const }),
    };
    const verdict = await signedPayments.claim(createSignedQuestion(this.order, payment, terms), keys);
    if (verdict.outcome !== 'claimed' || purchase.paymentIdentifier === null) return verdict;
    const named = await this.#takeIdentifier(purchase.paymentIdentifier, verdict);
    return named === 'another' ? { outcome: 'identifier_reused' } : { ...verdict, isNamedBefore: named === 'before' };
  }

  /**
   * The payment is claimed first, so that an identifier cannot be taken with a payment that belongs to someone else.
   */
  async #takeIdentifier(identifier: string, { lease, payer }: OrderClaim): Promise<'anew' | 'before' | 'another'> {
    let named: 'anew' | 'before' | 'another' = 'another';
    try {
      named = await this.parts.identifiers.take({ payer, identifier, lease });
      return named;
    } finally {
      if (named === 'another') await this.parts.ledger.release(lease, { counted: false }).catch(() => false);
    }
  }
}
