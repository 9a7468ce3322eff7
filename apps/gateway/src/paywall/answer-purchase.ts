import type { Readable } from 'node:stream';

import { crashPoint } from '@tollgate/journal';
import { LedgerError, type Ledger, type PaymentId, type StoredAnswer } from '@tollgate/ledger';
import { payerOf } from '@tollgate/protocol';

import type { Revisits } from '../revisits/revisits.js';
import {
  answerForeignChallenge,
  answerGone,
  answerSettling,
  answerTakenOver,
  answerUnavailable,
  answerUpstreamError,
  type Answer,
  type AnswerOrigin,
} from './answer.js';
import { readBody } from './answer-body.js';
import { keepHeaders } from './answer-headers.js';
import type { Claim } from './judge.js';
import { LeaseKeeper } from './lease-keeper.js';
import { mayBeMoved, NotSettledError, PaymentMaker, TakenOverError, type PaymentMakerParts } from './make-payment.js';
import { isMetered } from './metering.js';
import { UpstreamError, type PaidRoute, type ProducedAnswer } from './paid-route.js';
import type { PaymentIdentifiers } from './payment-identifiers.js';
import { decodeReceipt, encodeReceipt } from './receipt-text.js';
import { createResourceRequest, type Order } from './resource-request.js';
import { createFailureHeaders, createSettlementHeaders, type MadePayment } from './settlement-headers.js';

const MAX_REPRODUCTIONS = 5;
const SAFE_METHODS = new Set(['GET', 'QUERY']);

export interface AnswerSettings {
  readonly leaseMs: number;
  readonly maxStoredAnswerBytes: number;
}

export interface AnswerParts extends PaymentMakerParts {
  readonly ledger: Ledger;
  readonly identifiers: PaymentIdentifiers;
  readonly revisits: Revisits;
  readonly reportFailure: (error: unknown, order: Order) => void;
}

/**
 * Produces the responses to paid requests. Each payment is settled and committed before the first byte of its response
 * is sent.
 */
export class Answers {
  readonly #payments: PaymentMaker;

  constructor(
    private readonly parts: AnswerParts,
    private readonly settings: AnswerSettings,
  ) {
    this.#payments = new PaymentMaker(parts);
  }

  /**
   * Produces, settles and commits under a fresh lease. If the resource fails, the payment is released; a signed payment
   * has then not been settled, unless the route settles first.
   */
  async produce(order: Order, claim: Claim): Promise<Answer> {
    const { lease } = claim;
    const keeper = new LeaseKeeper(this.parts.ledger, lease, this.settings.leaseMs);
    const { route } = order.purchase.endpoint;
    try {
      let made = claim.txHash === null ? null : describeClaimed(order, claim);
      if (made === null && route.settle === 'before') made = await this.#payments.make(order, claim);
      const grounds = { payment: lease.id, txHash: made?.txHash ?? null, signal: keeper.signal };
      const produced = await route.resource.produce(createResourceRequest(order, grounds));
      return isCharged(produced.status, route.chargeOn)
        ? await this.#charge(order, claim, produced, made)
        : await this.#giveBack(order, claim, produced);
    } catch (error) {
      if (error instanceof NotSettledError) return await this.#answerUnsettled(order, claim, error);
      if (keeper.signal.aborted || error instanceof TakenOverError) return answerTakenOver();
      this.parts.reportFailure(error, order);
      return await this.#fail(order, claim, error);
    } finally {
      keeper.stop();
    }
  }

  /** Replays the stored response of a spent payment, or produces it again where repeating the request is safe. */
  async replay(order: Order, id: PaymentId): Promise<Answer> {
    try {
      const stored = await this.parts.ledger.readAnswer(id);
      if (stored !== null) return { kind: 'resource', origin: 'replayed', ...stored };
      return await this.#reproduce(order, id);
    } catch (error) {
      this.parts.reportFailure(error, order);
      return error instanceof LedgerError ? answerUnavailable() : answerUpstreamError(error, false);
    }
  }

  async #reproduce(order: Order, id: PaymentId): Promise<Answer> {
    const { method, endpoint } = order.purchase;
    if (!SAFE_METHODS.has(method))
      return answerGone('It was not stored, and repeating the request could have side effects.');
    const made = await this.#findMade(order, id);
    if (!(await this.parts.ledger.countReproduction(id, MAX_REPRODUCTIONS))) {
      return answerGone(`It was not stored, and has already been produced again ${MAX_REPRODUCTIONS} times.`);
    }
    const grounds = { payment: id, txHash: made?.txHash ?? null, signal: new AbortController().signal };
    const produced = await endpoint.route.resource.produce(createResourceRequest(order, grounds));
    const body = await readBody(produced.body, 0);
    if (produced.status !== 402) return toAnswer('reproduced', produced, body, tell(order, made, produced));
    discard(body);
    return answerForeignChallenge(false);
  }

  /** The settled payment of a response that was not stored; null where its receipt is gone. */
  async #findMade({ purchase: { instrument } }: Order, id: PaymentId): Promise<MadePayment | null> {
    if (instrument.kind === 'transaction') return { txHash: instrument.txHash, payer: undefined };
    const text = await this.parts.ledger.readReceipt(id);
    const kept = text === null ? null : decodeReceipt(text);
    return kept && { ...kept, payer: payerOf(instrument) };
  }

  async #charge(order: Order, claim: Claim, produced: ProducedAnswer, made: MadePayment | null): Promise<Answer> {
    const isStored = order.purchase.endpoint.route.answer === 'stored';
    const body = await readBody(produced.body, isStored ? this.settings.maxStoredAnswerBytes : 0);
    let committed = false;
    try {
      const payment = made ?? (await this.#payments.make(order, claim, produced));
      crashPoint('S4');
      await this.#remember(order, payment);
      const { status } = produced;
      const headers = [...keepHeaders(produced.headers), ...tell(order, payment, produced)];
      const stored = isStored && Buffer.isBuffer(body) ? this.#toStored({ status, headers, body }) : null;
      committed = await this.parts.ledger.commit(claim.lease, stored, receiptOf(order, payment));
      if (!committed) return answerTakenOver();
      const { txHash, amountBaseUnits } = payment;
      return { kind: 'resource', origin: 'paid', status, headers, body, txHash: txHash ?? undefined, amountBaseUnits };
    } finally {
      if (!committed) discard(body);
    }
  }

  /** Called before the commit, so that the payer can revisit even if this process ends before it responds. */
  async #remember({ purchase }: Order, { payer }: MadePayment): Promise<void> {
    const { revisitSeconds = 0 } = purchase.endpoint.route;
    if (revisitSeconds > 0 && payer !== undefined) await this.parts.revisits.remember(payer, purchase, revisitSeconds);
  }

  #toStored(answer: StoredAnswer): StoredAnswer | null {
    return answer.body.length > this.settings.maxStoredAnswerBytes ? null : answer;
  }

  /**
   * Discards the produced response and releases the payment. What is counted and kept depends on the settlement result.
   */
  async #answerUnsettled(order: Order, claim: Claim, { result, afterWork }: NotSettledError): Promise<Answer> {
    const isFailed = result.outcome === 'failed';
    try {
      // Counts failures that cost work or gas: otherwise a payer that empties its account in the meantime could cause
      // them without limit.
      const counted = isFailed && (afterWork || result.txHash !== null);
      const keepsIdentifier = !isFailed && (result.outcome === 'pending' || mayBeMoved(order, claim));
      // Unless the settlement is pending, nothing was submitted for that amount.
      const forgetsAmount = result.outcome !== 'pending';
      const released = await this.#release(order, claim, { counted, forgetsAmount, keepsIdentifier });
      if (!released) return answerTakenOver();
    } catch {
      // The lease expires, and the same payment can then be presented again.
      return result.outcome === 'pending' ? answerSettling() : answerUnavailable();
    }
    switch (result.outcome) {
      case 'failed': {
        const { failure } = result;
        return { kind: 'refused', failure, headers: createFailureHeaders(order.purchase, failure) };
      }
      case 'pending':
        return answerSettling();
      case 'unavailable':
        return answerUnavailable(result.retryAfterMs);
    }
  }

  /** The resource responded with an error that is not charged: passes it on and releases the payment. */
  async #giveBack(order: Order, claim: Claim, produced: ProducedAnswer): Promise<Answer> {
    const body = await readBody(produced.body, 0);
    const terms = { counted: true, keepsIdentifier: mayBeMoved(order, claim) };
    const released = await this.#release(order, claim, terms).catch((error: unknown) => {
      discard(body);
      throw error;
    });
    if (released && produced.status !== 402) return toAnswer('released', produced, body);
    discard(body);
    return released ? answerForeignChallenge(true) : answerTakenOver();
  }

  async #fail(order: Order, claim: Claim, error: unknown): Promise<Answer> {
    if (error instanceof LedgerError) return answerUnavailable();
    const kind = error instanceof UpstreamError ? error.kind : 'failed';
    if (kind === 'unknown') return answerUpstreamError(error, false);
    try {
      // A resource that was never reached did no work, so the attempt does not count against the payer.
      const terms = { counted: kind !== 'refused', keepsIdentifier: mayBeMoved(order, claim) };
      const released = await this.#release(order, claim, terms);
      return released ? answerUpstreamError(error, true) : answerTakenOver();
    } catch {
      return answerUnavailable();
    }
  }

  async #release(
    { purchase }: Order,
    { lease, payer }: Claim,
    { keepsIdentifier, ...terms }: ReleaseTerms,
  ): Promise<boolean> {
    const { paymentIdentifier: identifier } = purchase;
    const released = await this.parts.ledger.release(lease, terms);
    if (identifier !== null && !keepsIdentifier) {
      // An identifier that could not be deleted expires.
      await this.parts.identifiers.forget({ payer, identifier, lease }).catch(() => undefined);
    }
    return released;
  }
}

interface ReleaseTerms {
  readonly counted: boolean;
  readonly forgetsAmount?: boolean;
  readonly keepsIdentifier: boolean;
}

/** A payment settled before this request: a transaction, or an earlier settlement of a signed payment. */
function describeClaimed({ purchase }: Order, { txHash, payer, amountBaseUnits }: Claim): MadePayment {
  return { txHash, payer, ...(isMetered(purchase.instrument) ? { amountBaseUnits } : {}) };
}

/** The receipt headers that go with the resource's own headers. */
function tell({ purchase }: Order, made: MadePayment | null, { status }: ProducedAnswer): [string, string][] {
  return made === null ? [] : createSettlementHeaders(purchase, made, { status, nowMs: Date.now() });
}

/**
 * The receipt to store for a signed payment in case its response is not stored. A transaction needs none: its proof
 * names it.
 */
function receiptOf({ purchase }: Order, made: MadePayment): string {
  return purchase.instrument.kind === 'transaction' ? '' : encodeReceipt(made);
}

function isCharged(status: number, chargeOn: PaidRoute['chargeOn']): boolean {
  // A 402 from the resource is not a usable response, so it is never charged.
  return status !== 402 && status < (chargeOn === '<400' ? 400 : 500);
}

function toAnswer(
  origin: AnswerOrigin,
  { status, headers }: ProducedAnswer,
  body: Buffer | Readable,
  told: [string, string][] = [],
): Answer {
  return { kind: 'resource', origin, status, headers: [...keepHeaders(headers), ...told], body };
}

function discard(body: Buffer | Readable): void {
  if (!Buffer.isBuffer(body)) body.destroy();
}
