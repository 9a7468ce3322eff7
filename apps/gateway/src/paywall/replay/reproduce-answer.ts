import type { Ledger, PaymentId } from '@tollgate/ledger';
import { payerOf } from '@tollgate/protocol';

import {
  answerForeignChallenge,
  MAX_REPRODUCTIONS,
  type ProblemAnswer,
  type ResourceAnswer,
} from '../answer/answer.js';
import { keepHeaders } from '../answer/answer-headers.js';
import { createSettlementHeaders, decodeReceipt, type MadePayment } from '../answer/settlement-headers.js';
import { createResourceRequest } from '../fulfil/resource-request.js';
import type { Order } from '../present/purchase.js';
import { readBody } from '../route/answer-body.js';

const SAFE_METHODS = new Set(['GET', 'QUERY']);

/** Whether the request may be repeated without side effects. */
export function isRepeatable({ purchase }: Order): boolean {
  return SAFE_METHODS.has(purchase.method);
}

/** Produces the answer of a spent payment again; null if that is not safe, or was done too often. */
export async function reproduceAnswer(
  ledger: Ledger,
  order: Order,
  id: PaymentId,
): Promise<ResourceAnswer | ProblemAnswer | null> {
  if (!isRepeatable(order)) return null;
  const { purchase } = order;
  const made = await findMade(ledger, order, id);
  if (!(await ledger.countReproduction(id, MAX_REPRODUCTIONS))) return null;
  const grounds = { payment: id, txHash: made?.txHash ?? null, signal: new AbortController().signal };
  const produced = await purchase.endpoint.route.resource.produce(createResourceRequest(order, grounds));
  const { status, headers } = produced;
  const body = await readBody(produced.body, 0);
  if (status === 402) {
    if (!Buffer.isBuffer(body)) body.destroy();
    return answerForeignChallenge(false);
  }
  const receipt = made === null ? [] : createSettlementHeaders(purchase, made, { status, nowMs: Date.now() });
  return { kind: 'resource', origin: 'reproduced', status, headers: [...keepHeaders(headers), ...receipt], body };
}

/** The settled payment of a response that was not stored; null where its receipt is gone. */
async function findMade(
  ledger: Ledger,
  { purchase: { instrument } }: Order,
  id: PaymentId,
): Promise<MadePayment | null> {
  if (instrument.kind === 'transaction') return { txHash: instrument.txHash, payer: undefined };
  const text = await ledger.readReceipt(id);
  const kept = text === null ? null : decodeReceipt(text);
  return kept && { ...kept, payer: payerOf(instrument) };
}
