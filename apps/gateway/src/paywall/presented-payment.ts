import {
  caip2Of,
  parsePaymentCredential,
  parsePaymentSignature,
  parseProof,
  parseProofOrSigned,
  PAYMENT_SIGNATURE,
  X_PAYMENT,
  type AuthenticationChallenge,
  type Hex,
  type PaymentProof,
  type RequirementTerms,
  type SignedPayment,
} from '@tollgate/protocol';

import type { PaymentHeader } from './payment-header.js';

/** A transaction that the payer sent himself. */
export interface TransactionInstrument {
  readonly kind: 'transaction';
  /** As the payer spelled it. */
  readonly txHash: Hex;
  readonly signature?: Hex;
}

/** What pays: a transaction that is there already, or a signature that has yet to be settled. */
export type Instrument = TransactionInstrument | SignedPayment;

/** In which words a payer speaks. `documented` has no header that says what came of a payment. */
export type PaymentForm = 'documented' | 'v1' | 'v2' | 'mpp';

/** A payment as it was presented, well formed and no more. */
export interface PresentedPayment {
  readonly form: PaymentForm;
  /** As the payer names it, and is answered. */
  readonly network: string;
  readonly instrument: Instrument;
  /** The challenge that is answered, where the payer says it. */
  readonly reference?: string | undefined;
  /** What a payer of version 2 says he accepted. */
  readonly accepted?: RequirementTerms;
  readonly paymentIdentifier?: unknown;
  /** What a payer by MPP says he was asked. */
  readonly challenge?: AuthenticationChallenge;
}

export interface AcceptedForms {
  readonly chainId: number;
  /** What proofs in `X-Payment` may name. */
  readonly networks: readonly string[];
  readonly signedPayments: boolean;
}

/** @throws PaymentError with one of PAYMENT_FAILURES as its code */
export function parsePresentedPayment({ name, value }: PaymentHeader, forms: AcceptedForms): PresentedPayment {
  switch (name) {
    case X_PAYMENT:
      return parseXPayment(value, forms);
    case PAYMENT_SIGNATURE: {
      const { accepted, payment, reference, paymentIdentifier } = parsePaymentSignature(value);
      const { network } = accepted;
      const own = payment.kind === 'transaction' ? payment.payload.reference : undefined;
      const presented = { form: 'v2', network, accepted, paymentIdentifier, reference: own ?? reference } as const;
      return { ...presented, instrument: toInstrument(payment) };
    }
    case 'Authorization': {
      const { challenge, payment } = parsePaymentCredential(value);
      const presented = { form: 'mpp', network: caip2Of(forms.chainId), challenge, reference: challenge.id } as const;
      return { ...presented, instrument: toInstrument(payment) };
    }
  }
}

function parseXPayment(value: string, { networks, signedPayments }: AcceptedForms): PresentedPayment {
  const proof = (signedPayments ? parseProofOrSigned : parseProof)(value, { network: networks });
  const { network, payload } = proof;
  if ('kind' in payload) return { form: 'v1', network, instrument: payload };
  const { reference } = payload;
  return { form: 'documented', network, reference, instrument: toInstrument({ kind: 'transaction', payload }) };
}

function toInstrument(
  payment: SignedPayment | { kind: 'transaction'; payload: Pick<PaymentProof['payload'], 'txHash' | 'signature'> },
): Instrument {
  if (payment.kind !== 'transaction') return payment;
  const { txHash, signature } = payment.payload;
  return { kind: 'transaction', txHash, ...(signature === undefined ? {} : { signature }) };
}
