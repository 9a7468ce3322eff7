import { LedgerError, type PaymentId } from '@tollgate/ledger';
import { payerOf } from '@tollgate/protocol';

import { answerForeignChallenge, answerGone, answerUnavailable, answerUpstreamError, type Answer } from './answer.js';
import { readBody } from './answer-body.js';
import { keepHeaders } from './answer-headers.js';
import type { OrderParts } from './claimed-order.js';
import { decodeReceipt } from './receipt-text.js';
import { createResourceRequest, type Order } from './resource-request.js';
import { createSettlementHeaders, type MadePayment } from './settlement-headers.js';

const MAX_REPRODUCTIONS = 5;
const SAFE_METHODS = new Set(['GET', 'QUERY']);

/** Replays the stored response of a spent payment, or produces it again where repeating the request is safe. */
export async function replayAnswer(parts: OrderParts, order: Order, id: PaymentId): Promise<Answer> {
  try {
    const stored = await parts.ledger.readAnswer(id);
    if (stored !== null) return { kind: 'resource', origin: 'replayed', ...stored };
    return await reproduce(parts, order, id);
  } catch (error) {
    parts.reportFailure(error, order);
    return error instanceof LedgerError ? answerUnavailable() : answerUpstreamError(error, false);
  }
}

async function reproduce({ ledger }: OrderParts, order: Order, id: PaymentId): Promise<Answer> {
  const { purchase } = order;
  if (!SAFE_METHODS.has(purchase.method))
    return answerGone('It was not stored, and repeating the request could have side effects.');
  const made = await findMade(ledger, order, id);
  if (!(await ledger.countReproduction(id, MAX_REPRODUCTIONS))) {
    return answerGone(`It was not stored, and has already been produced again ${MAX_REPRODUCTIONS} times.`);
  }
  const grounds = { payment: id, txHash: made?.txHash ?? null, signal: new AbortController().signal };
  const {
    status,
    headers,
    body: unread,
  } = await purchase.endpoint.route.resource.produce(createResourceRequest(order, grounds));
  const body = await readBody(unread, 0);
  if (status === 402) {
    if (!Buffer.isBuffer(body)) body.destroy();
    return answerForeignChallenge(false);
  }
  const receipt = made === null ? [] : createSettlementHeaders(purchase, made, { status, nowMs: Date.now() });
  return { kind: 'resource', origin: 'reproduced', status, headers: [...keepHeaders(headers), ...receipt], body };
}

/** The settled payment of a response that was not stored; null where its receipt is gone. */
async function findMade(
  ledger: OrderParts['ledger'],
  { purchase: { instrument } }: Order,
  id: PaymentId,
): Promise<MadePayment | null> {
  if (instrument.kind === 'transaction') return { txHash: instrument.txHash, payer: undefined };
  const text = await ledger.readReceipt(id);
  const kept = text === null ? null : decodeReceipt(text);
  return kept && { ...kept, payer: payerOf(instrument) };
}
