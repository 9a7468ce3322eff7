import type { Answer } from './answer.js';
import { assertGateOptions } from './assert-gate-options.js';
import { Challenge, type Offer, type PaymentTerms } from './challenge.js';
import { Facilitator, type FacilitatorOptions } from './facilitator.js';
import { GatePurchase, type GatePurchaseParts } from './gate-purchase.js';
import { MemoryStore } from './memory-store.js';
import { PaidRequest } from './paid-request.js';
import { PaymentClaims } from './payment-claims.js';
import type { PaymentStore } from './payment-store.js';
import { sell } from './purchase/index.js';
import { readPayment, type GateRequest } from './shown-payment.js';
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

type SaleParts = Pick<GatePurchaseParts, 'facilitator' | 'claims' | 'maxAnswerBytes' | 'terms' | 'onTrouble'> & {
  readonly publicUrl: string | undefined;
};

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
    const shown = readPayment(request);
    if (shown === null) return { answer: this.challenge.render(resource) };
    if ('reason' in shown) return { answer: this.challenge.render(resource, shown.reason) };
    const { version, paymentPayload, reference } = shown;
    const paymentRequirements = this.challenge.requirementFor(version, resource, reference);
    if (paymentRequirements === null) return { answer: this.challenge.render(resource, 'invalid_network') };
    const question = { x402Version: version, paymentPayload, paymentRequirements };
    const { challenge } = this;
    const purchase = new GatePurchase({
      ...{ ...this.parts, challenge, question, request, shown, resource, url: `${resource}${url.search}` },
    });
    const end = sell(purchase);
    const sale = await Promise.race([purchase.claimed, end.then(() => null)]);
    return sale === null ? { answer: purchase.answerTo(await end) } : { paid: new PaidRequest(purchase, sale, end) };
  }
}

/** Replaces an invalid Host by `localhost`: any client can send one, and it goes into the response. */
function parseUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  const [, path = ''] = /^[a-z]+:\/\/[^/]*(\/[^?#]*)?/i.exec(url) ?? [];
  return new URL(`http://localhost${path}`);
}
