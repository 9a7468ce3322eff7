import type { OnApplicationShutdown } from '@nestjs/common';
import { ProblemError, sendProblem, toRetryAfter, type Problem } from '@tollgate/common';
import { sell } from '@tollgate/middleware/purchase';
import {
  PaymentError,
  signedKindOf,
  X_PAYMENT_FAILURE,
  X_SIGN_IN_FAILURE,
  type PaymentFailure,
  type SignedKind,
  type SignInFailure,
} from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../server/idempotency-key.js';
import { type ProblemAnswer, type ResourceAnswer, sendAnswer } from './answer/answer.js';
import type { ChallengedRequest } from './offer/challenges.js';
import { prefersHtml } from './offer/html-page.js';
import type { PaidEndpoint } from './offer/paid-endpoint.js';
import type { ReadPublicOrigin } from './offer/public-origin.js';
import { sendChallenge, sendUnpaid, sendUnpaidPage } from './offer/send-challenge.js';
import type { PaywallCounters } from './paywall-counters.js';
import { factsOf, type PaymentFacts, type PaywallLog, type RequestFacts } from './paywall-log.js';
import {
  findPaymentHeader,
  SEVERAL_PAYMENTS,
  type PaymentHeader,
  isPaymentFailure,
  parsePurchase,
  type PurchaseTerms,
} from './present/parse-purchase.js';
import { fingerprintOf, paymentFactsOf, type Order, type Purchase, readQuery } from './present/purchase.js';
import { PresentedOrder, type OrderEnd, type OrderParts } from './presented-order.js';
import type { Visit, RefusedVisit, Visits } from './revisits/visits.js';

export interface PaywallParts {
  readonly terms: PurchaseTerms;
  readonly orders: OrderParts;
  readonly visits: Visits;
  readonly counters: PaywallCounters;
  readonly log: PaywallLog;
  readonly readOrigin: ReadPublicOrigin;
  readonly logUnpaid: boolean;
}

const UNSAFE_PATH: Problem = {
  status: 400,
  code: 'path_invalid',
  detail: 'The path contains a segment that is not allowed: an empty or dot segment, a slash or a control character.',
};
/** Ends of an order that did not get the claim on its payment. */
const TURNED_AWAY = new Set<OrderEnd['outcome']>(['busy', 'conflict', 'identifier_reused', 'unavailable', 'refused']);

/** Guards every paid route: challenges, verifies, answers. */
export class Paywall implements OnApplicationShutdown {
  readonly #purchases = new WeakMap<FastifyRequest, Purchase>();
  readonly #visits = new WeakMap<FastifyRequest, Visit>();

  constructor(private readonly parts: PaywallParts) {}

  /** Runs before the body is read: answers requests without a well-formed payment, and passes the others on. */
  admit(endpoint: PaidEndpoint, request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
    const path = endpoint.path.literal ?? endpoint.path.fill(request.params as Record<string, string>);
    if (path === null) {
      sendProblem(reply, UNSAFE_PATH);
      return;
    }
    const routed = { endpoint, path, request, reply };
    // A HEAD only asks for the price: a payment spent on it would buy nothing.
    const header = request.method === 'HEAD' ? undefined : findPaymentHeader(request, this.parts.terms);
    if (header === null) {
      sendProblem(reply, SEVERAL_PAYMENTS);
      return;
    }
    const isAdmitted = header === undefined ? this.#admitVisit(routed) : this.#parse({ ...routed, header });
    if (isAdmitted) pass();
  }

  /** Runs after the body is read: verifies the payment and answers the request. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [purchase, visit] = [this.#purchases.get(request), this.#visits.get(request)];
    const { counters } = this.parts;
    counters.enter();
    try {
      if (visit !== undefined) return await this.#serveVisit(visit, request, reply);
      if (purchase === undefined) throw new Error('A paid route was reached without passing its paywall.');
      return await this.#serve(purchase, request, reply);
    } finally {
      counters.leave();
    }
  }

  onApplicationShutdown(): void {
    this.parts.log.flush();
  }

  /**
   * Reads the sign-in of a request without a payment. False where the request is already answered, because it has no
   * sign-in or an invalid one, or none is asked for.
   */
  #admitVisit(routed: RoutedRequest): boolean {
    const { endpoint, path, request, reply } = routed;
    const { visits, readOrigin } = this.parts;
    const mayRevisit = endpoint.isRevisited && request.method !== 'HEAD';
    const visit = mayRevisit ? visits.read({ endpoint, path, request, origin: readOrigin(request) }) : null;
    if (visit === null) {
      this.#challenge(endpoint, path, request, reply);
      return false;
    }
    if (typeof visit === 'string') {
      this.#refuseVisit(routed, visit);
      return false;
    }
    this.#visits.set(request, visit);
    return true;
  }

  async #serveVisit(visit: Visit, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { visits, counters, log } = this.parts;
    const { endpoint, resource, signIn } = visit;
    const { path } = resource;
    const startedAtMs = performance.now();
    const answer = await visits.serve(visit, request);
    const facts = { ...factsOf(request, path), payer: signIn.address };
    if (answer.kind === 'unpaid') {
      return this.#refuseVisit({ endpoint, path, request, reply }, answer.failure, answer.cause);
    }
    counters.countAnswer(answer);
    log.answered({ ...facts, durationMs: Math.round((performance.now() - startedAtMs) * 10) / 10 }, answer);
    return sendAnswer(reply, answer);
  }

  /** Answers with the challenge of an unpaid request, and the reason beside it. */
  #refuseVisit(
    { endpoint, path, request, reply }: RoutedRequest,
    failure: SignInFailure,
    cause: RefusedVisit['cause'] = failure,
  ): FastifyReply {
    const { terms, counters, log } = this.parts;
    counters.countRefusal('sign_in_refused');
    log.refused({ ...factsOf(request, path), failure: `sign_in: ${cause}` });
    const challenge = terms.challenges.renderVisit(this.#asked(endpoint, path, request), failure);
    return sendChallenge(reply, challenge, [[X_SIGN_IN_FAILURE, failure]]);
  }

  /** Parses the request's purchase. False where the request is already answered, because its payment is malformed. */
  #parse({ header, ...presented }: PresentingRequest): boolean {
    const { endpoint, path, request, reply } = presented;
    const idempotencyKey = readIdempotencyKey(request);
    if (idempotencyKey === null) {
      sendProblem(reply, INVALID_IDEMPOTENCY_KEY);
      return false;
    }
    const { terms, readOrigin, log } = this.parts;
    try {
      const parts = { request, endpoint, path, origin: readOrigin(request), header, idempotencyKey };
      this.#purchases.set(request, parsePurchase(parts, terms));
      return true;
    } catch (error) {
      if (error instanceof ProblemError) {
        sendProblem(reply, error.problem);
        return false;
      }
      if (!(error instanceof PaymentError) || !isPaymentFailure(error.code)) throw error;
      log.refused({ ...factsOf(request, path), failure: error.code, reason: error.message });
      this.#refuse({ ...presented, failure: error.code });
      return false;
    }
  }

  async #serve(purchase: Purchase, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = Buffer.isBuffer(request.body) ? request.body : null;
    const caller = { requestId: request.id, clientAddress: request.ip, fingerprint: fingerprintOf(purchase, body) };
    const params = request.params as Record<string, string>;
    const order: Order = { purchase, caller, params, headers: request.raw.headers, body };
    const presented = new PresentedOrder(this.parts.orders, order);
    const end = await sell(presented);
    const answer = presented.answerTo(end);
    if (answer.kind === 'refused') return this.#refuseOrder(order, request, reply, answer);
    const { log } = this.parts;
    const facts = orderFacts(order, request);
    const durationMs = this.#count(order, answer);
    if (answer.kind === 'problem' && TURNED_AWAY.has(end.outcome)) {
      log.turnedAway({ ...facts, ...reasonOf(end), durationMs }, answer);
    } else log.answered({ ...facts, ...(presented.payer && { payer: presented.payer }), durationMs }, answer);
    return sendAnswer(reply, answer);
  }

  #count({ purchase }: Order, answer: ResourceAnswer | ProblemAnswer): number {
    const { counters } = this.parts;
    const durationMs = Math.round((performance.now() - purchase.startedAtMs) * 10) / 10;
    counters.countAnswer(answer);
    counters.observeSeconds(durationMs / 1000, answer.kind === 'resource' ? answer.origin : 'problem');
    return durationMs;
  }

  #challenge(endpoint: PaidEndpoint, path: string, request: FastifyRequest, reply: FastifyReply): void {
    const { terms, counters, log, logUnpaid } = this.parts;
    counters.unpaid += 1;
    const { renderPage } = endpoint;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const varies = renderPage !== null && isRead;
    if (request.method === 'HEAD') {
      sendUnpaid(request, reply, { challenge: null, varies });
    } else {
      const asked = this.#asked(endpoint, path, request);
      const challenge = terms.challenges.render(asked);
      if (varies && prefersHtml(request.raw.headers)) {
        const asPage = {
          route: endpoint.route,
          query: readQuery(request.raw.url ?? ''),
          reference: challenge.reference,
        };
        sendUnpaidPage(request, reply, challenge, renderPage({ ...asked, ...asPage }));
      } else {
        sendUnpaid(request, reply, { challenge, varies });
      }
    }
    if (logUnpaid) log.unpaid(factsOf(request, path));
  }

  #refuseOrder(order: Order, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
    const { endpoint, path, instrument } = order.purchase;
    const signedKind = instrument.kind === 'transaction' ? undefined : signedKindOf(instrument);
    this.parts.log.refused({ ...orderFacts(order, request), failure: refusal.failure });
    return this.#refuse({ endpoint, path, request, reply, signedKind, ...refusal });
  }

  #refuse({
    endpoint,
    path,
    request,
    reply,
    failure,
    signedKind,
    retryAfterMs,
    headers = [],
  }: RefusedRequest): FastifyReply {
    const { terms, counters } = this.parts;
    counters.countRefusal(failure);
    if (retryAfterMs !== undefined) void reply.header('Retry-After', toRetryAfter(retryAfterMs));
    const challenge = terms.challenges.render(this.#asked(endpoint, path, request), failure, signedKind);
    return sendChallenge(reply, challenge, [...headers, [X_PAYMENT_FAILURE, failure]]);
  }

  #asked(endpoint: PaidEndpoint, resource: string, request: FastifyRequest): ChallengedRequest {
    return { endpoint, method: request.method, resource, origin: this.parts.readOrigin(request) };
  }
}

/** A request for a paid route, with its path in canonical form. */
interface RoutedRequest {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface PresentingRequest extends RoutedRequest {
  readonly header: PaymentHeader;
}

interface Refusal {
  readonly failure: PaymentFailure;
  readonly signedKind?: SignedKind | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

type RefusedRequest = RoutedRequest & Refusal;

function reasonOf(end: OrderEnd): { reason?: string } {
  if (end.outcome === 'refused') return { reason: end.failure };
  return end.outcome === 'unavailable' ? { reason: end.reason } : {};
}

function orderFacts({ purchase }: Order, request: FastifyRequest): RequestFacts & PaymentFacts {
  return { ...factsOf(request, purchase.path), ...paymentFactsOf(purchase) };
}
