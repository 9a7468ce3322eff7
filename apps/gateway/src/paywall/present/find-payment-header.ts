import type { IncomingMessage } from 'node:http';

import type { Problem } from '@tollgate/http';
import { findPaymentCredentials, PAYMENT_AUTHORIZATION, PAYMENT_SIGNATURE, X_PAYMENT } from '@tollgate/protocol';

import { headerLines } from '../route/header-lines.js';

/** The header that presents a payment; the receipt is sent in the same protocol. */
export interface PaymentHeader {
  /** `Authorization` also for a credential in `Payment-Authorization`. */
  readonly name: typeof X_PAYMENT | typeof PAYMENT_SIGNATURE | 'Authorization';
  readonly value: string;
}

interface Place {
  readonly field: string;
  readonly name: PaymentHeader['name'];
  readonly read: (line: string) => readonly string[];
}

const whole = (line: string): string[] => [line];
const PROOF: Place = { field: X_PAYMENT.toLowerCase(), name: X_PAYMENT, read: whole };
const PLACES: readonly Place[] = [
  PROOF,
  { field: PAYMENT_SIGNATURE.toLowerCase(), name: PAYMENT_SIGNATURE, read: whole },
  { field: 'authorization', name: 'Authorization', read: findPaymentCredentials },
  { field: PAYMENT_AUTHORIZATION.toLowerCase(), name: 'Authorization', read: findPaymentCredentials },
];
const UNSIGNED: readonly Place[] = [PROOF];

export const SEVERAL_PAYMENTS: Problem = {
  status: 400,
  code: 'payment_ambiguous',
  detail: `Send exactly one payment: ${X_PAYMENT}, ${PAYMENT_SIGNATURE}, or Payment in Authorization or ${PAYMENT_AUTHORIZATION}.`,
};

/**
 * The payment that a request presents: undefined where there is none, null where there are several, in one header or in
 * different ones, since the client might assume that another one was used.
 */
export function findPaymentHeader(
  request: IncomingMessage,
  { signedPayments }: { readonly signedPayments: boolean },
): PaymentHeader | null | undefined {
  const found: PaymentHeader[] = [];
  for (const { field, name, read } of signedPayments ? PLACES : UNSIGNED) {
    for (const line of headerLines(request, field)) found.push(...read(line).map((value) => ({ name, value })));
  }
  return found.length > 1 ? null : found[0];
}
