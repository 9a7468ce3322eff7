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
  /** Stores payment records and sold responses; default: this process's memory. */
  store?: PaymentStore;
  /** How long a sold response can be replayed; default 86,400. */
  keepSeconds?: number;
  /** How long a payment stays claimed after its process has died; default 30. */
  leaseSeconds?: number;
  /** Largest body that is stored; larger responses are sold but not stored. Default 262,144. */
  maxAnswerBytes?: number;
  /** Origin of the resources in challenges, if it differs from that of the requests: behind a proxy. */
  publicUrl?: string;
  /**
   * Called each time the facilitator or the store is unavailable (the client gets 503) or the facilitator refuses this
   * server (500). Default: a warning, for refusals once a minute.
   */
  onTrouble?: (error: Error) => void;
}

/** The parts of a request that a gate reads. */
export interface GateRequest {
  readonly method: string;
  /** An absolute URL. */
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  /** The body, if it is available before the handler runs. A different body makes a different request. */
  readonly readBody?: () => Promise<string | Uint8Array | null>;
}

export type Admission = { readonly answer: Answer } | { readonly paid: PaidRequest };

/**
 * Sells resources for signed payments that a facilitator verifies and settles. One gate serves all routes of a server.
 */
export class PaymentGate {
  readonly #parts: SaleParts;

  /** @throws PaymentError `invalid_options` listing every missing or invalid option */
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

  /** Admits a request with a valid payment, once at a time, and answers every other request. Never rejects. */
  async admit(request: GateRequest): Promise<Admission> {
    // The resource excludes the query, which may contain private data and is not part of what is sold.
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
    // A payment that may have been settled would fail verification; its settlement decides instead.
    const refusal = look.standing === 'open' ? await this.#refuse(question, resource) : null;
    if (refusal !== null) return refusal;
    const claim = await claims.claim(showing, look);
    if (claim === null) return { answer: createRetryAnswer(409, 'payment_in_progress') };
    const { challenge } = this;
    return {
      paid: new PaidRequest({ question, resource, challenge, facilitator, claim, maxAnswerBytes, onTrouble }),
    };
  }

  /** The response for a payment that cannot be claimed; null if it can. */
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
        if (record?.answer === undefined) throw new TypeError('An answered payment has no stored answer.');
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
      // No settlement was requested, so the payer has lost nothing.
      if (error instanceof FacilitatorError && error.isRefused) return { answer: createRefusedAnswer() };
      return { answer: createRetryAnswer(503, 'facilitator_unavailable') };
    }
  }
}

/** Replaces an invalid Host by `localhost`: any client can send one, and it goes into the response. */
function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  const [, path = ''] = /^[a-z]+:\/\/[^/]*(\/[^?#]*)?/i.exec(url) ?? [];
  return new URL(`http://localhost${path}`);
}
