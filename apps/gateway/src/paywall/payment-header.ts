import type { Problem } from '@tollgate/common';
import { findPaymentCredential, PAYMENT_SIGNATURE, X_PAYMENT } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

/** In which words a payment is presented; what came of it is answered in the same. */
export interface PaymentHeader {
  readonly name: typeof X_PAYMENT | typeof PAYMENT_SIGNATURE | 'Authorization';
  readonly value: string;
}

const X_PAYMENT_FIELD = X_PAYMENT.toLowerCase();
const PAYMENT_SIGNATURE_FIELD = PAYMENT_SIGNATURE.toLowerCase();

export const SEVERAL_PAYMENTS: Problem = {
  status: 400,
  code: 'payment_ambiguous',
  detail: `Send one payment: ${X_PAYMENT}, ${PAYMENT_SIGNATURE} or Authorization: Payment.`,
};

/**
 * The payment a request presents; undefined where there is none, null where there are several: whichever were taken, the
 * client might think it was another. Node joins a repeated header with commas, which no base64 has.
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
