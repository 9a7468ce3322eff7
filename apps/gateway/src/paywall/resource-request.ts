import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { PaymentId } from '@tollgate/ledger';
import { IDEMPOTENCY_KEY, X_PAYMENT } from '@tollgate/protocol';

import type { Caller } from './judge.js';
import type { ResourceRequest } from './paid-route.js';
import type { Purchase } from './purchase.js';

const PAYMENT_HEADERS = [X_PAYMENT, IDEMPOTENCY_KEY].map((name) => name.toLowerCase());

/** A purchase with what of the request its resource is told. */
export interface Order {
  readonly purchase: Purchase;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
}

export function createResourceRequest(order: Order, payment: PaymentId, signal: AbortSignal): ResourceRequest {
  const { purchase, caller, params, body } = order;
  const { method, path, query, proof } = purchase;
  const headers = { ...order.headers };
  for (const name of PAYMENT_HEADERS) Reflect.deleteProperty(headers, name);
  return {
    method,
    path,
    query,
    params,
    headers,
    body,
    idempotencyKey: nameAttempt(payment),
    requestId: caller.requestId,
    clientAddress: caller.clientAddress,
    verification: { isValid: true, txHash: proof.payload.txHash },
    signal,
  };
}

/** The same for every attempt with one payment; tells the upstream nothing about it. */
function nameAttempt(payment: PaymentId): string {
  const text = Object.values(payment).join('/').toLowerCase();
  return `tollgate-${createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')}`;
}
