import { DUPLICATE_SETTLEMENT, IDEMPOTENT_REPLAYED } from '@tollgate/protocol';

import { createAnswer, createRefusedAnswer, createRetryAnswer, type Answer } from './answer.js';
import { assertGateOptions } from './assert-gate-options.js';
import { Challenge, type Offer, type PaymentTerms } from './challenge.js';
import { digest } from './digest.js';
import { Facilitator, FacilitatorError, type FacilitatorOptions, type FacilitatorQuestion } from './facilitator.js';
import { MemoryStore } from './memory-store.js';
import { PaidRequest } from './paid-request.js';
import { PaymentClaims, type Look } from './payment-claims.js';
import type { Showing } from './payment-record.js';
import type { PaymentStore } from './payment-store.js';
import { amountOf, namePayment, readPayment, type PresentedPayment } from './presented-payment.js';
import { unpackAnswer } from './sold-answer.js';
import { createTroubleLog } from './trouble-log.js';

export interface GateOptions extends PaymentTerms {
  facilitator: FacilitatorOptions;
  /** What is known of payments, and the answers that were sold; without it in this process's memory, until it ends. */
  store?: PaymentStore;
  /** How long a sold answer can be asked for again; 86,400. */
  keepSeconds?: number;
  /** How long a payment is held for a process that has died; 30. */
  leaseSeconds?: number;
  /** Of a body; larger answers are sold and not kept; 262,144. */
  maxAnswerBytes?: number;
  /** Origin of the resources in challenges, where it is not the one that requests name: behind a proxy. */
  publicUrl?: string;
  /**
   * Told of a facilitator or store that cannot be asked (the client gets 503), or refuses this server (500), each time. By
   * default a warning, of refusals once a minute.
   */
  onTrouble?: (error: Error) => void;
}

/** What a gate looks at of a request. */
export interface GateRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /** The body, where it is known before the handler runs: another one is another request. */
  readonly readBody?: () => Promise<string | Uint8Array | null>;
}

export type Admission = { readonly answer: Answer } | { readonly paid: PaidRequest };

/** Sells what is behind it for signed payments that a facilitator verifies and settles. One for all routes of a server. */
export class PaymentGate {
  readonly #parts: SaleParts;

  /** @throws PaymentError `invalid_options` that names all that is missing or wrong */
  constructor(private readonly options: GateOptions) {
    assertGateOptions(options);
    const { store = new MemoryStore(), keepSeconds = 86_400, leaseSeconds = 30, maxAnswerBytes = 262_144 } = options;
    this.#parts = {
      facilitator: new Facilitator(options.facilitator),
      claims: new PaymentClaims(store, { keepMs: keepSeconds * 1000, leaseMs: leaseSeconds * 1000 }),
      maxAnswerBytes,
      terms: options,
      publicUrl: options.publicUrl?.replace(/\/+$/, ''),
      onTrouble: options.onTrouble ?? createTroubleLog(),
    };
  }

  /** @throws PaymentError `invalid_amount` for a price that the asset cannot express */
  sell(offer: Offer): Sale {
    return new Sale(new Challenge(this.options, offer), this.#parts);
  }
}

interface SaleParts {
  readonly facilitator: Facilitator;
  readonly claims: PaymentClaims;
  readonly maxAnswerBytes: number;
  readonly terms: PaymentTerms;
  readonly publicUrl: string | undefined;
  readonly onTrouble: (error: Error) => void;
}

/** One offer of a gate. */
export class Sale {
  constructor(
    private readonly challenge: Challenge,
    private readonly parts: SaleParts,
  ) {}

  /** Lets a request pass whose payment is good, once at a time; every other one is answered. Never rejects. */
  async admit(request: GateRequest): Promise<Admission> {
    // Without the query: it may hold what is private, and is no part of what is sold.
    const url = parseUrl(request.url);
    const resource = `${this.parts.publicUrl ?? url.origin}${url.pathname}`;
    const presented = readPayment(request);
    if (presented === null) return { answer: this.challenge.render(resource) };
    if ('reason' in presented) return { answer: this.challenge.render(resource, presented.reason) };
    const { version, paymentPayload, reference } = presented;
    const paymentRequirements = this.challenge.requirementFor(version, resource, reference);
    if (paymentRequirements === null) return { answer: this.challenge.render(resource, 'invalid_network') };
    const question = { x402Version: version, paymentPayload, paymentRequirements };
    try {
      const showing = await this.#show(request, presented, `${resource}${url.search}`);
      return await this.#admit(question, resource, showing);
    } catch (error) {
      this.parts.onTrouble(error as Error);
      return { answer: createRetryAnswer(503, 'store_unavailable') };
    }
  }

  async #show(request: GateRequest, { payment, secret }: PresentedPayment, url: string): Promise<Showing> {
    const { chainId, asset } = this.parts.terms;
    const body = (await request.readBody?.()) ?? '';
    return {
      name: namePayment(payment, chainId, asset.address),
      request: await digest(request.method, url, body, JSON.stringify(payment)),
      secret: secret === null ? null : await digest(secret),
      isEnough: this.challenge.isMetBy(amountOf(payment)),
    };
  }

  async #admit(question: FacilitatorQuestion, resource: string, showing: Showing): Promise<Admission> {
    const { claims, facilitator, maxAnswerBytes, onTrouble } = this.parts;
    const look = await claims.look(showing);
    const known = this.#answer(look, resource);
    if (known !== null) return { answer: known };
    // What may have been settled is no good to verify any more: its settlement tells.
    const refusal = look.standing === 'open' ? await this.#refuse(question, resource) : null;
    if (refusal !== null) return refusal;
    const claim = await claims.claim(showing, look);
    if (claim === null) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    const { challenge } = this;
    return {
      paid: new PaidRequest({ question, resource, challenge, facilitator, claim, maxAnswerBytes, onTrouble }),
    };
  }

  /** Null for a payment that may buy something. */
  #answer({ standing, record }: Look, resource: string): Answer | null {
    switch (standing) {
      case 'open':
      case 'own':
        return null;
      case 'busy':
        return createRetryAnswer(409, 'payment_in_progress');
      case 'other_request':
        return createAnswer(409, { error: 'payment_for_another_request' });
      case 'not_kept':
        return createAnswer(410, { error: 'answer_not_kept' });
      case 'used':
        return this.challenge.render(resource, DUPLICATE_SETTLEMENT);
      case 'answered': {
        if (record?.answer === undefined) throw new TypeError('a payment is answered that has no answer');
        const answer = unpackAnswer(record.answer);
        return { ...answer, headers: { ...answer.headers, [IDEMPOTENT_REPLAYED]: 'true' } };
      }
    }
  }

  async #refuse(question: FacilitatorQuestion, resource: string): Promise<{ answer: Answer } | null> {
    try {
      const { isValid, invalidReason = 'unexpected_verify_error' } = await this.parts.facilitator.verify(question);
      return isValid ? null : { answer: this.challenge.render(resource, invalidReason) };
    } catch (error) {
      this.parts.onTrouble(error as Error);
      // Nothing was asked to be settled: who signed has lost nothing.
      if (error instanceof FacilitatorError && error.isRefused) return { answer: createRefusedAnswer() };
      return { answer: createRetryAnswer(503, 'facilitator_unavailable') };
    }
  }
}

/** With `localhost` for a Host that is none: anybody may send one, and it goes into the answer. */
function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  const [, path = ''] = /^[a-z]+:\/\/[^/]*(\/[^?#]*)?/i.exec(url) ?? [];
  return new URL(`http://localhost${path}`);
}
