import { pauseMsAfter, sell } from '@tollgate/middleware/purchase';
import { X_PAYMENT_RELEASED } from '@tollgate/protocol';

import { createAnswer, toSeconds, type Answer, type SoldAnswer } from '../answer/answer.js';
import { AuthorizationChain } from '../chain/authorization-fate.js';
import { PaymentClaims } from '../claim/claim.js';
import { Challenge, type Offer } from '../offer/challenge.js';
import { parseUrl, ResourceOrigin } from '../offer/resource-origin.js';
import { readPayment, type GateRequest } from '../present/shown-payment.js';
import { MemoryStore } from '../stores/payment-store.js';
import { createTroubleLog, Facilitator } from '../verify/facilitator.js';
import { assertGateOptions, MAX_ANSWER_BYTES, MAX_HELD_BYTES, type GateOptions } from './gate-options.js';
import type { MiddlewareClaimedPurchase } from './middleware-claimed-purchase.js';
import { MiddlewarePurchase, type GateEnd, type MiddlewarePurchaseParts } from './middleware-purchase.js';

export type Admission = { readonly answer: Answer } | { readonly paid: PaidRequest };

/**
 * Sells resources for signed payments that a facilitator verifies and settles. One gate serves all routes of a server.
 */
export class PaymentGate {
  readonly #parts: SaleParts;

  /** @throws PaymentError `invalid_options` listing every missing or invalid option */
  constructor(private readonly options: GateOptions) {
    assertGateOptions(options);
    const { store = new MemoryStore(), keepSeconds = 86_400, leaseSeconds = 30 } = options;
    const { rpcUrl, chainId, confirmations = 1, onTrouble = createTroubleLog() } = options;
    this.#parts = {
      facilitator: new Facilitator(options.facilitator),
      chain: rpcUrl === undefined ? null : new AuthorizationChain({ rpcUrl, chainId, confirmations }),
      claims: new PaymentClaims(store, { keepMs: keepSeconds * 1000, leaseMs: leaseSeconds * 1000 }),
      maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
      maxHeldBytes: options.maxHeldBytes ?? MAX_HELD_BYTES,
      terms: options,
      origin: new ResourceOrigin({ publicUrl: options.publicUrl, trustProxy: options.trustProxy ?? false, onTrouble }),
      onTrouble,
      onOwed: options.onOwed ?? ((owed) => onTrouble(new Error(`A payment may be owed: ${JSON.stringify(owed)}`))),
    };
  }

  /**
   * @throws PaymentError `invalid_amount` for a price of 0, or one that the asset cannot express; `invalid_options` for
   * another `settle`
   */
  sell(offer: Offer): Sale {
    return new Sale(new Challenge(this.options, offer), this.#parts);
  }
}

type SaleParts = Pick<
  MiddlewarePurchaseParts,
  'facilitator' | 'chain' | 'claims' | 'maxAnswerBytes' | 'terms' | 'onTrouble' | 'onOwed'
> & {
  readonly origin: ResourceOrigin;
  readonly maxHeldBytes: number;
};

/** The challenge names path and host in a header, whose length proxies limit. */
const MAX_PATH_BYTES = 1_024;

/** One offer of a gate. */
export class Sale {
  constructor(
    private readonly challenge: Challenge,
    private readonly parts: SaleParts,
  ) {}

  /** Admits a request with a valid payment, once at a time, and answers every other request. Never rejects. */
  async admit(request: GateRequest): Promise<Admission> {
    // Neither a priced nor a paid one: a handler that upgrades the connection gives no response that could be sold.
    if (request.header('Upgrade') !== undefined) return { answer: createAnswer(501, { error: 'upgrade_unsupported' }) };
    // The resource excludes the query, which may contain private data and is not part of what is sold.
    const url = parseUrl(request.url);
    if (url.pathname.length > MAX_PATH_BYTES) return { answer: createAnswer(414, { error: 'uri_too_long' }) };
    const resource = `${this.parts.origin.of(url, request.header)}${url.pathname}`;
    const shown = readPayment(request);
    if (shown === null) return { answer: this.challenge.render(resource) };
    if ('reason' in shown) return { answer: this.challenge.render(resource, shown.reason) };
    const { version, paymentPayload, reference } = shown;
    const paymentRequirements = this.challenge.requirementFor(version, resource, reference);
    if (paymentRequirements === null) return { answer: this.challenge.render(resource, 'invalid_network') };
    const question = { x402Version: version, paymentPayload, paymentRequirements };
    const { challenge } = this;
    const purchase = new MiddlewarePurchase({
      ...this.parts,
      challenge,
      question,
      request,
      shown,
      resource,
      url: `${resource}${url.search}`,
    });
    const end = sell(purchase);
    const sale = await Promise.race([purchase.admitted, end.then(() => null)]);
    if (sale === null) return { answer: purchase.answerTo(await end) };
    return { paid: new PaidRequest(purchase, sale, end, this.parts.maxHeldBytes) };
  }
}

/** `headers`: to be added to the sold response. `answer`: to be sent instead of it. */
export type Settlement = { readonly headers: Readonly<Record<string, string>> } | { readonly answer: Answer };

/** A request with a valid payment, whose response is awaited. `end` must be called in every case. */
export class PaidRequest {
  /** How much of the response is held back at most; 0 where the payment is settled already. */
  readonly maxHeldBytes: number;

  constructor(
    private readonly purchase: MiddlewarePurchase,
    private readonly sale: MiddlewareClaimedPurchase,
    private readonly ended: Promise<GateEnd>,
    maxHeldBytes: number,
  ) {
    this.maxHeldBytes = sale.settles === 'before' ? 0 : maxHeldBytes;
  }

  /**
   * Must be called when the response is complete, or more of it is held than `maxHeldBytes`, and none of it has been
   * sent. Never rejects.
   * @param isGone whether the client has disconnected
   */
  async settle(answer: SoldAnswer, isGone: () => boolean): Promise<Settlement> {
    this.sale.deliver({ answer, isGone });
    const end = await this.ended;
    return end.outcome === 'committed'
      ? { headers: this.sale.headersFor(answer, end.settled) }
      : { answer: this.purchase.answerTo(end) };
  }

  /**
   * Ends the purchase of a response that is not for sale, and returns the headers that it gets: a client is told that its
   * payment was not settled and can be used again, and when to ask a handler again that is busy. Never rejects.
   */
  async decline(status: number, retryAfter: string | null): Promise<Readonly<Record<string, string>>> {
    const pauseMs = pauseMsAfter(status, retryAfter, Date.now());
    this.sale.deliver(null, pauseMs);
    const isReleased = (await this.end()) === 'released' && this.sale.isUnsettled;
    return {
      ...(pauseMs > 0 && { 'Retry-After': toSeconds(pauseMs) }),
      ...(isReleased && { [X_PAYMENT_RELEASED]: 'true' }),
    };
  }

  /**
   * Waits for a running settlement and releases the claim, so that the payment can be presented again. Never rejects.
   * @returns how the purchase has ended
   */
  async end(): Promise<GateEnd['outcome']> {
    this.sale.deliver(null);
    const { outcome } = await this.ended;
    if (outcome === 'store_unavailable') await this.sale.giveUp();
    return outcome;
  }
}
