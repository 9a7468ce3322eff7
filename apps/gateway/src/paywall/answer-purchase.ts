import type { Readable } from 'node:stream';

import { LedgerError, type Lease, type Ledger, type PaymentId, type StoredAnswer } from '@tollgate/ledger';

import {
  answerForeignChallenge,
  answerGone,
  answerTakenOver,
  answerUnavailable,
  answerUpstreamError,
  type Answer,
  type AnswerOrigin,
} from './answer.js';
import { readBody } from './answer-body.js';
import { keepHeaders } from './answer-headers.js';
import { LeaseKeeper } from './lease-keeper.js';
import { UpstreamError, type PaidRoute, type ProducedAnswer } from './paid-route.js';
import { createResourceRequest, type Order } from './resource-request.js';

const MAX_REPRODUCTIONS = 5;
const SAFE_METHODS = new Set(['GET', 'QUERY']);

export interface AnswerSettings {
  readonly leaseMs: number;
  readonly maxStoredAnswerBytes: number;
}

/** Makes the answers of paid requests, and sees to it that each is committed before its first byte leaves. */
export class Answers {
  constructor(
    private readonly ledger: Ledger,
    private readonly settings: AnswerSettings,
    private readonly reportFailure: (error: unknown, order: Order) => void,
  ) {}

  /** Produces and commits under a fresh lease; a payment whose resource fails is given back. */
  async produce(order: Order, lease: Lease): Promise<Answer> {
    const keeper = new LeaseKeeper(this.ledger, lease, this.settings.leaseMs);
    const { route } = order.purchase.endpoint;
    try {
      const produced = await route.resource.produce(createResourceRequest(order, lease.id, keeper.signal));
      return isCharged(produced.status, route.chargeOn)
        ? await this.#commit(route, lease, produced)
        : await this.#giveBack(lease, produced);
    } catch (error) {
      if (keeper.signal.aborted) return answerTakenOver();
      this.reportFailure(error, order);
      return await this.#fail(lease, error);
    } finally {
      keeper.stop();
    }
  }

  /** Gives the answer of a spent payment again: the stored one, or a new one where repeating does no harm. */
  async replay(order: Order, id: PaymentId): Promise<Answer> {
    try {
      const stored = await this.ledger.readAnswer(id);
      if (stored !== null) return { kind: 'resource', origin: 'replayed', ...stored };
      return await this.#reproduce(order, id);
    } catch (error) {
      this.reportFailure(error, order);
      return error instanceof LedgerError ? answerUnavailable() : answerUpstreamError(error, false);
    }
  }

  async #reproduce(order: Order, id: PaymentId): Promise<Answer> {
    if (!SAFE_METHODS.has(order.purchase.method)) return answerGone('It was not kept, and asking again could do harm.');
    if (!(await this.ledger.countReproduction(id, MAX_REPRODUCTIONS))) {
      return answerGone(`It was not kept, and was made ${MAX_REPRODUCTIONS} more times already.`);
    }
    const { resource } = order.purchase.endpoint.route;
    const produced = await resource.produce(createResourceRequest(order, id, new AbortController().signal));
    const body = await readBody(produced.body, 0);
    if (produced.status !== 402) return toAnswer('reproduced', produced, body);
    discard(body);
    return answerForeignChallenge(false);
  }

  async #commit(route: PaidRoute, lease: Lease, produced: ProducedAnswer): Promise<Answer> {
    const isStored = route.answer === 'stored';
    const body = await readBody(produced.body, isStored ? this.settings.maxStoredAnswerBytes : 0);
    const stored = isStored && Buffer.isBuffer(body) ? this.#toStored(produced, body) : null;
    let committed = false;
    try {
      committed = await this.ledger.commit(lease, stored);
    } finally {
      if (!committed) discard(body);
    }
    return committed ? toAnswer('paid', produced, body) : answerTakenOver();
  }

  #toStored({ status, headers }: ProducedAnswer, body: Buffer): StoredAnswer | null {
    return body.length > this.settings.maxStoredAnswerBytes ? null : { status, headers: keepHeaders(headers), body };
  }

  /** The resource answered that it cannot: its answer is passed on, and the payment may be used again. */
  async #giveBack(lease: Lease, produced: ProducedAnswer): Promise<Answer> {
    const body = await readBody(produced.body, 0);
    const released = await this.#release(lease, true).catch((error: unknown) => {
      discard(body);
      throw error;
    });
    if (released && produced.status !== 402) return toAnswer('released', produced, body);
    discard(body);
    return released ? answerForeignChallenge(true) : answerTakenOver();
  }

  async #fail(lease: Lease, error: unknown): Promise<Answer> {
    if (error instanceof LedgerError) return answerUnavailable();
    const kind = error instanceof UpstreamError ? error.kind : 'failed';
    if (kind === 'unknown') return answerUpstreamError(error, false);
    try {
      // A resource that was never reached did no work: such attempts are not counted against the payer.
      const released = await this.#release(lease, kind !== 'refused');
      return released ? answerUpstreamError(error, true) : answerTakenOver();
    } catch {
      return answerUnavailable();
    }
  }

  #release(lease: Lease, counted: boolean): Promise<boolean> {
    return this.ledger.release(lease, { counted });
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
