import type { Readable } from 'node:stream';

import type { AnsweredFacts } from '@tollgate/book-events';
import type { PaymentOption } from '@tollgate/config';
import { crashPoint } from '@tollgate/journal';
import { nameOfPayment, type Lease, type Ledger } from '@tollgate/ledger';
import type { ClaimedPurchase, FailureCause, ReleaseTerms, Unsettled } from '@tollgate/middleware/purchase';
import type { Hex } from '@tollgate/protocol';
import { StoreError } from '@tollgate/redis';
import type { PaymentSimulation, SettlementResult } from '@tollgate/transport';

import { isMetered, type SignedPayments } from '../../signed-payments/signed-payments.js';
import { keepHeaders } from '../answer/answer-headers.js';
import { createSettlementHeaders, encodeReceipt, type MadePayment } from '../answer/settlement-headers.js';
import type { Order } from '../present/purchase.js';
import type { Revisits } from '../revisits/revisits.js';
import { isCharged, UpstreamError, type ProducedAnswer } from '../route/paid-route.js';
import { readBody } from '../route/read-body.js';
import type { PaymentIdentifiers } from '../verify/payment-identifiers.js';
import { createSignedQuestion, type QuestionTerms } from '../verify/verify-questions.js';
import { pauseMsOf } from './busy.js';
import { parseCharge } from './charge.js';
import { createResourceRequest } from './resource-request.js';
import { describeAnswer, describeSale, SaleClock } from './sale-facts.js';

/** A payment claimed for this order. */
export interface OrderClaim {
  readonly lease: Lease;
  readonly payer: Hex;
  /** Null for a signed payment that has yet to be settled. */
  readonly txHash: Hex | null;
  /** Whether a transaction is bound to its reference, by hash lock or signature. */
  readonly bound?: boolean;
  /** The amount that transaction transferred, where it may be less than the price. */
  readonly amountBaseUnits?: string;
  /** The result of the simulated settlement at the time of the claim. */
  readonly simulation?: PaymentSimulation;
  /** An earlier request already used the payer's identifier for this payment, and may have settled it. */
  readonly isNamedBefore?: boolean;
}

export interface GatewayClaimedPurchaseParts {
  readonly ledger: Ledger;
  readonly terms: QuestionTerms;
  readonly signedPayments: SignedPayments;
  readonly identifiers: PaymentIdentifiers;
  readonly revisits: Revisits;
  readonly reportFailure: (error: unknown, order: Order) => void;
  /** Of money that has arrived and that a redirect has released: the answer is at a path that another payment buys. */
  readonly reportOwed: (payment: string, money: MadePayment, order: Order) => void;
  readonly option: Pick<PaymentOption, 'decimals' | 'rate' | 'symbol'>;
  readonly maxStoredAnswerBytes: number;
  /** Parameters of a query that the book does not get; null: it gets no query. */
  readonly leftOutOfQueries: readonly string[] | null;
}

type MadeResult = { readonly outcome: 'settled' } & MadePayment;
export type OrderResult = MadeResult | Unsettled<SettlementResult>;

/** An order whose payment is claimed: sells the resource of a paid route, with the ledger as store. */
export class GatewayClaimedPurchase implements ClaimedPurchase<ProducedAnswer, OrderResult> {
  readonly leaseMs: number;
  readonly payer: Hex;
  readonly settled: MadeResult | null;
  readonly mayBeSettled: boolean;
  readonly settles: 'before' | 'after';
  readonly recordsSettlement: boolean;
  /** What the resource produced, and the headers that it is committed with. */
  body: Buffer | Readable | null = null;
  headers: [string, string][] = [];
  /** How long the resource, which was busy, is left alone. */
  pauseMs = 0;
  #isMoved = false;
  #status = 0;
  readonly #isMetered: boolean;
  /** Null while nothing is reported to the book. */
  readonly #clock: SaleClock | null;
  /** The money that has arrived; null while none is known to have. */
  #moved: MadePayment | null;

  constructor(
    private readonly parts: GatewayClaimedPurchaseParts,
    private readonly order: Order,
    private readonly claim: OrderClaim,
  ) {
    const { instrument, endpoint } = order.purchase;
    const { txHash, payer, amountBaseUnits, isNamedBefore = false } = claim;
    this.leaseMs = parts.terms.leaseMs;
    this.payer = payer;
    this.#isMetered = this.recordsSettlement = isMetered(instrument);
    this.settles = endpoint.route.settle;
    this.settled =
      txHash === null ? null : { outcome: 'settled', txHash, payer, ...(this.#isMetered && { amountBaseUnits }) };
    this.mayBeSettled = txHash !== null || isNamedBefore;
    this.#moved = txHash === null ? null : { txHash, payer, amountBaseUnits };
    const { ledger } = parts;
    const times = { startedAtMs: order.purchase.startedAtMs, lease: claim.lease, leaseMs: this.leaseMs };
    this.#clock = ledger.isBooked ? new SaleClock(() => ledger.nowMs(), times) : null;
  }

  renew(): Promise<boolean> {
    return this.parts.ledger.renew(this.claim.lease, this.leaseMs);
  }

  /** Reads the body of a stored answer to its end, so that nothing is settled for one that breaks off. */
  async produce(settled: MadeResult | null, signal: AbortSignal): Promise<ProducedAnswer> {
    const { route } = this.order.purchase.endpoint;
    const grounds = { payment: this.claim.lease.id, txHash: settled?.txHash ?? null, signal };
    this.#clock?.noteAsked();
    const produced = await route.resource.produce(createResourceRequest(this.order, grounds));
    this.#isMoved = produced.isMoved === true;
    this.#status = produced.status;
    const isStored = route.answer === 'stored' && this.isCharged(produced);
    this.body = await readBody(produced.body, isStored ? this.parts.maxStoredAnswerBytes : 0);
    this.#clock?.noteFulfilled();
    return produced;
  }

  isCharged(produced: ProducedAnswer): boolean {
    return isCharged(this.order.purchase.endpoint.route, produced);
  }

  pauseMsOf(produced: ProducedAnswer): number {
    return (this.pauseMs = pauseMsOf(produced, Date.now()));
  }

  /** @throws UpstreamError `mischarged` */
  amountOf(produced: ProducedAnswer | null): bigint {
    const { priceBaseUnits, endpoint } = this.order.purchase;
    if (!this.#isMetered) return priceBaseUnits;
    const hasSeveralOptions = endpoint.options.length > 1;
    const { option } = this.parts;
    return parseCharge(produced?.charge, { maximumBaseUnits: priceBaseUnits, option, hasSeveralOptions });
  }

  /** A metered amount is fixed before it is submitted: a retry settles the same one. */
  recordSettlement(amountBaseUnits: bigint): Promise<bigint | null> {
    return this.parts.ledger.fixAmount(this.claim.lease, amountBaseUnits);
  }

  async settle(amountBaseUnits: bigint): Promise<OrderResult> {
    const result = await this.#settle(amountBaseUnits);
    if (result.outcome === 'settled' && result.txHash !== null) {
      this.#moved = result;
      this.#clock?.noteSettled();
    }
    return result;
  }

  async #settle(amountBaseUnits: bigint): Promise<OrderResult> {
    const { signedPayments, terms } = this.parts;
    const { payer, simulation } = this.claim;
    const { instrument } = this.order.purchase;
    // A transaction paid before it was presented: its claim names it, and it is never settled.
    if (instrument.kind === 'transaction') return { outcome: 'unavailable', reason: 'nothing_to_settle' };
    // An amount of zero is not settled: the response is free.
    if (this.#isMetered && amountBaseUnits === 0n)
      return { outcome: 'settled', txHash: null, payer, amountBaseUnits: '0' };
    const question = createSignedQuestion(this.order, instrument, terms);
    const amount = amountBaseUnits.toString();
    if (this.#isMetered) return signedPayments.settle(question, amount);
    const result = await signedPayments.settle(question, amount, simulation);
    return result.outcome === 'settled' ? { outcome: 'settled', txHash: result.txHash, payer: result.payer } : result;
  }

  async commit(produced: ProducedAnswer, made: MadePayment): Promise<boolean> {
    crashPoint('S4');
    const { purchase } = this.order;
    const { answer, revisitSeconds = 0 } = purchase.endpoint.route;
    // Before the commit, so that the payer can revisit even if this process ends before it responds.
    if (revisitSeconds > 0 && made.payer !== undefined)
      await this.parts.revisits.remember(made.payer, this.order.caller.fingerprint, {
        payment: nameOfPayment(this.claim.lease.id),
        seconds: revisitSeconds,
      });
    const body = this.body;
    const { status } = produced;
    const receipt = createSettlementHeaders(purchase, made, { status, nowMs: Date.now() });
    this.headers = [...keepHeaders(produced.headers, body), ...receipt];
    const isStored = answer === 'stored' && Buffer.isBuffer(body) && body.length <= this.parts.maxStoredAnswerBytes;
    // Kept in case the answer is not stored. A transaction needs no receipt: its proof names it.
    const kept = purchase.instrument.kind === 'transaction' ? '' : encodeReceipt(made);
    const stored = isStored ? { status, headers: this.headers, body } : null;
    const facts = this.#describe(status, made);
    return this.parts.ledger.commit(this.claim.lease, stored, { receipt: kept, facts, repeatForMs: this.leaseMs });
  }

  async release({ cause, mayBeSettled, ...terms }: ReleaseTerms): Promise<boolean> {
    const { ledger, identifiers } = this.parts;
    const { lease, payer } = this.claim;
    const { paymentIdentifier: identifier } = this.order.purchase;
    const sale = this.#clock && this.#moved && describeSale(this.order, this.claim, this.parts, this.#moved);
    const reason = cause === 'not_charged' ? `answered_${this.#status}` : cause;
    const facts = this.#clock && sale && { reason, sale, timeline: this.#clock.read() };
    const released = await ledger.release(lease, terms, facts);
    if (released && this.#isMoved && this.#moved) {
      this.parts.reportOwed(nameOfPayment(lease.id), this.#moved, this.order);
    }
    // An identifier that could not be deleted expires.
    if (identifier !== null && !mayBeSettled)
      await identifiers.forget({ payer, identifier, lease }).catch(() => undefined);
    return released;
  }

  reportFailure(error: unknown): FailureCause {
    this.parts.reportFailure(error, this.order);
    if (error instanceof StoreError) return 'store';
    if (!(error instanceof UpstreamError)) return 'failed';
    if (error.kind === 'refused') return 'unreached';
    return error.kind === 'unknown' ? 'unknown' : 'failed';
  }

  /** For the book. A settlement of a fixed price does not repeat its amount, and a claim may know the transferred one. */
  #describe(status: number, made: MadePayment): AnsweredFacts | null {
    if (this.#clock === null) return null;
    const { amountBaseUnits } = this.claim;
    const money = { ...made, amountBaseUnits: made.amountBaseUnits ?? amountBaseUnits };
    const sale = describeSale(this.order, this.claim, this.parts, money);
    const body = Buffer.isBuffer(this.body) ? this.body : null;
    return describeAnswer(sale, { fingerprint: this.order.caller.fingerprint, status, body, clock: this.#clock });
  }
}
