import type { Readable } from 'node:stream';

import type { SettlementResult } from '@tollgate/common';
import { LedgerError, type Lease, type Ledger, type PaymentId, type StoredAnswer } from '@tollgate/ledger';

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
import { UpstreamError, type PaidRoute, type ProducedAnswer } from './paid-route.js';
import type { PaymentIdentifiers } from './payment-identifiers.js';
import { createResourceRequest, type Order } from './resource-request.js';
import { createFailureHeaders, createSettlementHeaders, type MadePayment } from './settlement-headers.js';

const MAX_REPRODUCTIONS = 5;
const SAFE_METHODS = new Set(['GET', 'QUERY']);

export interface AnswerSettings {
  readonly leaseMs: number;
  readonly maxStoredAnswerBytes: number;
}

export interface AnswerParts {
  readonly ledger: Ledger;
  /** Has an order's signed payment moved. Never throws. */
  readonly settle: (order: Order) => Promise<SettlementResult>;
  readonly identifiers: PaymentIdentifiers;
  readonly reportFailure: (error: unknown, order: Order) => void;
}

/** Makes the answers of paid requests, and sees to it that each is paid and committed before its first byte leaves. */
export class Answers {
  constructor(
    private readonly parts: AnswerParts,
    private readonly settings: AnswerSettings,
  ) {}

  /**
   * Produces, settles and commits under a fresh lease. A payment whose resource fails is given back: unless the route
   * settles first, a signed one was then not moved at all.
   */
  async produce(order: Order, claim: Claim): Promise<Answer> {
    const { lease, payer } = claim;
    const keeper = new LeaseKeeper(this.parts.ledger, lease, this.settings.leaseMs);
    const { route } = order.purchase.endpoint;
    try {
      let made: MadePayment | null = claim.txHash === null ? null : { txHash: claim.txHash, payer };
      if (made === null && route.settle === 'before') made = await this.#settle(order, false);
      const grounds = { payment: lease.id, txHash: made?.txHash ?? null, signal: keeper.signal };
      const produced = await route.resource.produce(createResourceRequest(order, grounds));
      return isCharged(produced.status, route.chargeOn)
        ? await this.#charge(order, lease, produced, made)
        : await this.#giveBack(order, claim, produced);
    } catch (error) {
      if (error instanceof NotSettledError) return await this.#answerUnsettled(order, claim, error);
      if (keeper.signal.aborted) return answerTakenOver();
      this.parts.reportFailure(error, order);
      return await this.#fail(order, claim, error);
    } finally {
      keeper.stop();
    }
  }

  /** Gives the answer of a spent payment again: the stored one, or a new one where repeating does no harm. */
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
    const { method, instrument, endpoint } = order.purchase;
    if (!SAFE_METHODS.has(method)) return answerGone('It was not kept, and asking again could do harm.');
    if (!(await this.parts.ledger.countReproduction(id, MAX_REPRODUCTIONS))) {
      return answerGone(`It was not kept, and was made ${MAX_REPRODUCTIONS} more times already.`);
    }
    const txHash = instrument.kind === 'transaction' ? instrument.txHash : null;
    const grounds = { payment: id, txHash, signal: new AbortController().signal };
    const produced = await endpoint.route.resource.produce(createResourceRequest(order, grounds));
    const body = await readBody(produced.body, 0);
    if (produced.status !== 402) return toAnswer('reproduced', produced, body);
    discard(body);
    return answerForeignChallenge(false);
  }

  /** @throws NotSettledError */
  async #settle(order: Order, afterWork: boolean): Promise<MadePayment> {
    const result = await this.parts.settle(order);
    if (result.outcome !== 'settled') throw new NotSettledError(result, afterWork);
    return result;
  }

  async #charge(order: Order, lease: Lease, produced: ProducedAnswer, made: MadePayment | null): Promise<Answer> {
    const isStored = order.purchase.endpoint.route.answer === 'stored';
    const body = await readBody(produced.body, isStored ? this.settings.maxStoredAnswerBytes : 0);
    let committed = false;
    try {
      const payment = made ?? (await this.#settle(order, true));
      const { status } = produced;
      const told = createSettlementHeaders(order.purchase, payment, { status, nowMs: Date.now() });
      const paid = { ...produced, headers: [...keepHeaders(produced.headers), ...told] };
      const stored = isStored && Buffer.isBuffer(body) ? this.#toStored(paid, body) : null;
      committed = await this.parts.ledger.commit(lease, stored);
      if (!committed) return answerTakenOver();
      return { kind: 'resource', origin: 'paid', status, headers: paid.headers, body, txHash: payment.txHash };
    } finally {
      if (!committed) discard(body);
    }
  }

  #toStored({ status, headers }: ProducedAnswer, body: Buffer): StoredAnswer | null {
    return body.length > this.settings.maxStoredAnswerBytes ? null : { status, headers, body };
  }

  /** What was made for the payment is thrown away; what becomes of the payment depends on what is known of it. */
  async #answerUnsettled(order: Order, claim: Claim, { result, afterWork }: NotSettledError): Promise<Answer> {
    const isOpen = result.outcome === 'pending';
    try {
      // Counted for what it cost: otherwise who empties his account meanwhile gets work done, or gas spent, for ever.
      const counted = result.outcome === 'failed' && (afterWork || result.txHash !== null);
      const released = await this.#release(order, claim, { counted, keepsIdentifier: isOpen });
      if (!released) return answerTakenOver();
    } catch {
      // The lease ends by itself, and the same proof finds the payment again.
      return isOpen ? answerSettling() : answerUnavailable();
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

  /** The resource answered that it cannot: its answer is passed on, and the payment may be used again. */
  async #giveBack(order: Order, claim: Claim, produced: ProducedAnswer): Promise<Answer> {
    const body = await readBody(produced.body, 0);
    const released = await this.#release(order, claim, { counted: true }).catch((error: unknown) => {
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
      // A resource that was never reached did no work: such attempts are not counted against the payer.
      const released = await this.#release(order, claim, { counted: kind !== 'refused' });
      return released ? answerUpstreamError(error, true) : answerTakenOver();
    } catch {
      return answerUnavailable();
    }
  }

  async #release(
    { purchase }: Order,
    { lease, payer }: Claim,
    { counted, keepsIdentifier = false }: { readonly counted: boolean; readonly keepsIdentifier?: boolean },
  ): Promise<boolean> {
    const { paymentIdentifier: identifier } = purchase;
    const released = await this.parts.ledger.release(lease, { counted });
    if (identifier !== null && !keepsIdentifier) {
      // One that is kept for nothing ends by itself.
      await this.parts.identifiers.forget({ payer, identifier, payment: lease.id }).catch(() => undefined);
    }
    return released;
  }
}

type Unsettled = Exclude<SettlementResult, { outcome: 'settled' }>;

/** A payment that is not settled, at the place where it should have been. */
class NotSettledError extends Error {
  constructor(
    readonly result: Unsettled,
    /** The resource had done its work. */
    readonly afterWork: boolean,
  ) {
    super(`The payment is not settled: ${result.outcome}.`);
    this.name = 'NotSettledError';
  }
}

function isCharged(status: number, chargeOn: PaidRoute['chargeOn']): boolean {
  // A 402 of the resource is never charged: it is no answer.
  return status !== 402 && status < (chargeOn === '<400' ? 400 : 500);
}

function toAnswer(origin: AnswerOrigin, { status, headers }: ProducedAnswer, body: Buffer | Readable): Answer {
  return { kind: 'resource', origin, status, headers: keepHeaders(headers), body };
}

function discard(body: Buffer | Readable): void {
  if (!Buffer.isBuffer(body)) body.destroy();
}
