import { createHash } from 'node:crypto';

import type { PaymentId } from '@tollgate/ledger';

import type { Order } from '../present/purchase.js';
import type { ResourceRequest } from '../route/paid-route.js';

/** The payment under which a response is produced. */
export interface Grounds {
  readonly payment: PaymentId;
  /** Null while the payment is not settled. */
  readonly txHash: string | null;
  readonly signal: AbortSignal;
}

export function createResourceRequest(order: Order, { payment, txHash, signal }: Grounds): ResourceRequest {
  const { purchase, caller, headers, body } = order;
  const { method, path, sent, query } = purchase;
  return {
    method,
    path,
    sent,
    query,
    headers,
    body,
    idempotencyKey: nameAttempt(payment, caller.fingerprint),
    requestId: caller.requestId,
    clientAddress: caller.clientAddress,
    verification: txHash === null ? { isValid: true } : { isValid: true, txHash },
    signal,
  };
}

/**
 * A name that every attempt of one request with one payment has; it reveals nothing about the payment to the upstream. A released
 * payment may buy another request, for which the upstream must not repeat what it answered to the first.
 */
function nameAttempt(payment: PaymentId, fingerprint: string): string {
  const text = `${Object.values(payment).join('/').toLowerCase()}/${fingerprint}`;
  return `tollgate-${createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')}`;
}
