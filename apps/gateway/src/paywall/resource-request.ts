import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { PaymentId } from '@tollgate/ledger';
import {
  IDEMPOTENCY_KEY,
  PAYMENT_SIGNATURE,
  SIGN_IN_WITH_X,
  withoutPaymentCredentials,
  X_PAYMENT,
} from '@tollgate/protocol';

import type { ResourceRequest } from './paid-route.js';
import type { Purchase } from './purchase.js';

const PAYMENT_HEADERS = [X_PAYMENT, PAYMENT_SIGNATURE, SIGN_IN_WITH_X, IDEMPOTENCY_KEY].map((name) =>
  name.toLowerCase(),
);

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** A purchase with the parts of the request that its resource receives. */
export interface Order {
  readonly purchase: Purchase;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
}

/** The payment under which a response is produced. */
export interface Grounds {
  readonly payment: PaymentId;
  /** Null while the payment is not settled. */
  readonly txHash: string | null;
  readonly signal: AbortSignal;
}

export function createResourceRequest(order: Order, { payment, txHash, signal }: Grounds): ResourceRequest {
  const { purchase, caller, params, body } = order;
  const { method, path, query } = purchase;
  return {
    method,
    path,
    query,
    params,
    headers: withoutPayment(order.headers),
    body,
    idempotencyKey: nameAttempt(payment),
    requestId: caller.requestId,
    clientAddress: caller.clientAddress,
    verification: txHash === null ? { isValid: true } : { isValid: true, txHash },
    signal,
  };
}

/** The client's headers without those that concern only the client and the gateway. */
export function withoutPayment(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const left = { ...headers };
  for (const name of PAYMENT_HEADERS) Reflect.deleteProperty(left, name);
  const others = headers.authorization === undefined ? null : withoutPaymentCredentials(headers.authorization);
  if (others === null) Reflect.deleteProperty(left, 'authorization');
  else left.authorization = others;
  return left;
}

/** The same for every attempt with one payment; reveals nothing about the payment to the upstream. */
function nameAttempt(payment: PaymentId): string {
  const text = Object.values(payment).join('/').toLowerCase();
  return `tollgate-${createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')}`;
}
