import {
  decodeJsonHeader,
  facilitatorReasonFor,
  parsePaymentPayload,
  PAYMENT_SIGNATURE,
  PaymentError,
  X_PAYMENT,
  type PaymentFailure,
  type SignedPayment,
} from '@tollgate/protocol';

import { createRetryAnswer, type Answer } from './answer.js';
import { Challenge, type Offer, type PaymentTerms } from './challenge.js';
import { Facilitator, type FacilitatorOptions, type FacilitatorQuestion } from './facilitator.js';
import { OpenPayments } from './open-payments.js';
import { PaidRequest } from './paid-request.js';

export interface GateOptions extends PaymentTerms {
  facilitator: FacilitatorOptions;
  /** Origin of the resources in challenges, where it is not the one that requests name: behind a proxy. */
  publicUrl?: string;
  /** Told of a facilitator that cannot be asked, or refuses this server; the client gets 503. By default a warning. */
  onTrouble?: (error: Error) => void;
}

/** What a gate looks at of a request. */
export interface GateRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
}

export type Admission = { readonly answer: Answer } | { readonly paid: PaidRequest };

const MAX_HEADER_BYTES = 16_384;

/** Sells what is behind it for signed payments that a facilitator verifies and settles. One for all routes of a server. */
export class PaymentGate {
  readonly #facilitator: Facilitator;
  readonly #open = new OpenPayments();

  constructor(private readonly options: GateOptions) {
    this.#facilitator = new Facilitator(options.facilitator);
  }

  /** @throws PaymentError `invalid_amount` for a price that the asset cannot express */
  sell(offer: Offer): Sale {
    const { publicUrl, onTrouble = (error) => console.warn(error.message) } = this.options;
    const parts = { facilitator: this.#facilitator, open: this.#open, publicUrl, onTrouble };
    return new Sale(new Challenge(this.options, offer), parts);
  }
}

interface SaleParts {
  readonly facilitator: Facilitator;
  readonly open: OpenPayments;
  readonly publicUrl: string | undefined;
  readonly onTrouble: (error: Error) => void;
}

/** One offer of a gate. */
export class Sale {
  constructor(
    private readonly challenge: Challenge,
    private readonly parts: SaleParts,
  ) {}

  /** Lets a request pass whose payment is good, once at a time; every other one is answered. Never throws. */
  async admit(request: GateRequest): Promise<Admission> {
    const resource = this.#resourceOf(request.url);
    const presented = readPayment(request);
    if (presented === null) return { answer: this.challenge.render(resource) };
    if ('reason' in presented) return { answer: this.challenge.render(resource, presented.reason) };
    const { version, paymentPayload, payment } = presented;
    const paymentRequirements = this.challenge.requirementFor(version, resource);
    if (paymentRequirements === null) return { answer: this.challenge.render(resource, 'invalid_network') };
    const question = { x402Version: version, paymentPayload, paymentRequirements };
    return (await this.#refuse(question, resource)) ?? this.#begin(question, resource, nameOf(payment));
  }

  async #refuse(question: FacilitatorQuestion, resource: string): Promise<{ answer: Answer } | null> {
    try {
      const { isValid, invalidReason = 'unexpected_verify_error' } = await this.parts.facilitator.verify(question);
      return isValid ? null : { answer: this.challenge.render(resource, invalidReason) };
    } catch (error) {
      this.parts.onTrouble(error as Error);
      return { answer: createRetryAnswer(503, 'facilitator_unavailable') };
    }
  }

  #begin(question: FacilitatorQuestion, resource: string, payment: string): Admission {
    const { facilitator, open, onTrouble } = this.parts;
    const { challenge } = this;
    const idempotencyKey = open.begin(payment);
    if (idempotencyKey === null) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    const parts = { question, resource, challenge, facilitator, open, payment, idempotencyKey, onTrouble };
    return { paid: new PaidRequest(parts) };
  }

  /** Without the query: it may hold what is private, and is no part of what is sold. */
  #resourceOf(url: string): string {
    const { origin, pathname } = new URL(url);
    return `${this.parts.publicUrl?.replace(/\/+$/, '') ?? origin}${pathname}`;
  }
}

type Presented =
  | { readonly version: 1 | 2; readonly paymentPayload: object; readonly payment: SignedPayment }
  | { readonly reason: string };

/** Null without a payment. A HEAD asks for the price: a payment spent on it would buy nothing. */
function readPayment({ method, header }: GateRequest): Presented | null {
  const [v1, v2] = [header(X_PAYMENT), header(PAYMENT_SIGNATURE)];
  const version = v2 === undefined ? 1 : 2;
  const text = v2 ?? v1;
  if (text === undefined || method === 'HEAD') return null;
  try {
    const paymentPayload = decodeJsonHeader(text, MAX_HEADER_BYTES);
    const payload = parsePaymentPayload(paymentPayload);
    if (payload.version !== version) return { reason: facilitatorReasonFor('wrong_version', version) };
    return { version, paymentPayload, payment: payload.payment };
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    return { reason: facilitatorReasonFor(error.code as PaymentFailure, version) };
  }
}

/** A payer's nonce is good for one payment. */
function nameOf(payment: SignedPayment): string {
  const { from, nonce } = payment.kind === 'permit2' ? payment.permit2Authorization : payment.authorization;
  return `${payment.kind} ${from} ${nonce}`;
}
