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

/** @throws PaymentError with one of PAYMENT_FAILURES as its code */
export function parsePresentedPayment({ name, value }: PaymentHeader, forms: AcceptedForms): ParsedPayment {
  switch (name) {
    case X_PAYMENT: {
      const parse = forms.signedPayments ? parseProofOrSigned : parseProof;
      const { network, payload } = parse(value, { network: forms.networks });
      if ('kind' in payload) return { form: 'v1', network, instrument: payload };
      const { reference } = payload;
      return { form: 'documented', network, reference, instrument: toInstrument({ kind: 'transaction', payload }) };
    }
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

function toInstrument(
  payment: SignedPayment | { kind: 'transaction'; payload: Pick<PaymentProof['payload'], 'txHash' | 'signature'> },
): Instrument {
  if (payment.kind !== 'transaction') return payment;
  const { txHash, signature } = payment.payload;
  return { kind: 'transaction', txHash, ...(signature === undefined ? {} : { signature }) };
}
