import type { Problem } from '@tollgate/common';
import {
  findPaymentCredential,
  PAYMENT_SIGNATURE,
  X_PAYMENT,
  type AuthenticationChallenge,
  type Hex,
  type RequirementTerms,
  type SignedPayment,
} from '@tollgate/protocol';
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

/** A transaction that the payer sent itself. */
export interface TransactionInstrument {
  readonly kind: 'transaction';
  /** As the payer wrote it. */
  readonly txHash: Hex;
  readonly signature?: Hex;
}

/** The means of payment: a transaction that already exists, or a signature that has yet to be settled. */
export type Instrument = TransactionInstrument | SignedPayment;

/** The protocol of the payer. `documented` (the transaction-hash scheme) has no receipt header. */
export type PaymentForm = 'documented' | 'v1' | 'v2' | 'mpp';

/** A well-formed payment whose content is not verified yet. */
export interface ParsedPayment {
  readonly form: PaymentForm;
  /** As the payer names it; the receipt repeats it. */
  readonly network: string;
  readonly instrument: Instrument;
  /** The reference of the challenge that the payment answers, if it names one. */
  readonly reference?: string | undefined;
  /** x402 v2: the payment requirements that the payer accepted. */
  readonly accepted?: RequirementTerms;
  readonly paymentIdentifier?: unknown;
  /** MPP: the challenge as the credential repeats it. */
  readonly challenge?: AuthenticationChallenge;
}

export interface AcceptedForms {
  readonly chainId: number;
  /** The networks that payments in `X-Payment` may name. */
  readonly networks: readonly string[];
  readonly signedPayments: boolean;
}
