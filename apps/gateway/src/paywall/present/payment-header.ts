import type { Problem } from '@tollgate/common';
import { findPaymentCredential, PAYMENT_SIGNATURE, X_PAYMENT } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

/** The header that presents a payment; the receipt is sent in the same protocol. */
export interface PaymentHeader {
  readonly name: typeof X_PAYMENT | typeof PAYMENT_SIGNATURE | 'Authorization';
  readonly value: string;
}

const X_PAYMENT_FIELD = X_PAYMENT.toLowerCase();
const PAYMENT_SIGNATURE_FIELD = PAYMENT_SIGNATURE.toLowerCase();

export const SEVERAL_PAYMENTS: Problem = {
  status: 400,
  code: 'payment_ambiguous',
  detail: `Send exactly one payment: ${X_PAYMENT}, ${PAYMENT_SIGNATURE} or Authorization: Payment.`,
};

/**
 * The payment that a request presents: undefined where there is none, null where there are several, since the client
 * might assume that another one was used. Node joins a repeated header with commas, which base64 does not contain.
 */
export function findPaymentHeader(
  request: FastifyRequest,
  { signedPayments }: { readonly signedPayments: boolean },
): PaymentHeader | null | undefined {
  const { headers } = request.raw;
  const proof = headers[X_PAYMENT_FIELD] as string | undefined;
  if (!signedPayments) return proof === undefined ? undefined : { name: X_PAYMENT, value: proof };
  const signature = headers[PAYMENT_SIGNATURE_FIELD] as string | undefined;
  const credential = headers.authorization === undefined ? null : findPaymentCredential(headers.authorization);
  const found: PaymentHeader[] = [];
  if (proof !== undefined) found.push({ name: X_PAYMENT, value: proof });
  if (signature !== undefined) found.push({ name: PAYMENT_SIGNATURE, value: signature });
  if (credential !== null) found.push({ name: 'Authorization', value: credential });
  return found.length > 1 ? null : found[0];
}
