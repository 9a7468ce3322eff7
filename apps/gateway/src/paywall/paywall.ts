import type { OnApplicationShutdown } from '@nestjs/common';
import { handleError, ProblemError, sendProblem, toRetryAfter, type Problem } from '@tollgate/http';
import { sell } from '@tollgate/middleware/purchase';
import {
  PaymentError,
  reasonsOf,
  X_PAYMENT_FAILURE,
  X_SIGN_IN_FAILURE,
  type MethodReasons,
  type PaymentFailure,
  type SignInFailure,
} from '@tollgate/protocol';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { readIdempotencyKey } from '../server/idempotency-key.js';
import { type ProblemAnswer, type ResourceAnswer, sendAnswer } from './answer/answer.js';
import { GatewayPurchase, type OrderEnd, type OrderParts } from './gateway-purchase.js';
import type { ChallengedRequest } from './offer/challenges.js';
import { pageFormOf } from './offer/html-page.js';
import type { PaidEndpoint } from './offer/paid-endpoint.js';
import type { ReadPublicOrigin } from './offer/public-origin.js';
import { sendChallenge, sendNothingOffered, sendUnpaid, sendUnpaidPage } from './offer/send-challenge.js';
import type { SoldOption } from './offer/sold-option.js';
import type { PaywallCounters } from './paywall-counters.js';
import { factsOf, type PaymentFacts, type PaywallLog, type RequestFacts } from './paywall-log.js';
import { findHeadFault } from './present/find-head-fault.js';
import { findPaymentHeader, SEVERAL_PAYMENTS, type PaymentHeader } from './present/find-payment-header.js';
import { isPaymentFailure, parsePurchase, type PurchaseTerms } from './present/parse-purchase.js';
import { fingerprintOf, paymentFactsOf, type Order, type Purchase, readQuery } from './present/purchase.js';
import { readRequestBody } from './present/request-body.js';
import type { Visit, RefusedVisit, Visits } from './revisits/visits.js';
import type { SentPath } from './route/paid-path.js';
import { withoutPayment } from './route/paid-route.js';

export interface PaywallParts {
  readonly terms: PurchaseTerms;
  /** By the option's name. */
  readonly orders: ReadonlyMap<string, OrderParts>;
  readonly visits: Visits;
  readonly counters: PaywallCounters;
  readonly log: PaywallLog;
  readonly readOrigin: ReadPublicOrigin;
  readonly logUnpaid: boolean;
}

const UNSAFE_PATH: Problem = {
  status: 400,
  code: 'path_invalid',
  detail:
    'The path contains a segment that could be read as another path: a dot segment, a control character, bytes that are not UTF-8, or an encoded slash, backslash, dot or semicolon. Send dots and semicolons unencoded.',
};
/** Ends of an order that did not get the claim on its payment. */
const TURNED_AWAY = new Set<OrderEnd['outcome']>([
  'busy',
  'paused',
  'conflict',
  'identifier_reused',
  'unavailable',
  'refused',
]);

/** Guards every paid route: challenges, verifies, answers. */
export class Paywall implements OnApplicationShutdown {
  constructor(private readonly parts: PaywallParts) {}

  /**
   * Answers a request. One without a well-formed payment or sign-in is answered from its head alone: nothing is read,
   * and no other service is asked.
   */
  admit(endpoint: PaidEndpoint, request: FastifyRequest, reply: FastifyReply): void {
    const requested = endpoint.path.read(request.raw.url ?? '');
    const refusal = requested === null ? UNSAFE_PATH : findHeadFault(request, requested);
    if (requested === null || refusal !== null) {
      sendProblem(reply, refusal ?? UNSAFE_PATH);
      return;
    }
    const { canonical: path, sent } = requested;
    const routed = { endpoint, path, sent, request, reply };
    // A HEAD only asks for the price: a payment spent on it would buy nothing.
    const header = request.method === 'HEAD' ? undefined : findPaymentHeader(request.raw, this.parts.terms);
    if (header === null) {
      sendProblem(reply, SEVERAL_PAYMENTS);
      return;
    }
    const serve = header === undefined ? this.#admitVisit(routed) : this.#parse({ ...routed, header });
    if (serve !== null) void this.#read(routed, serve);
  }

  /** Serves an admitted request once its body is there. */
  async #read({ request, reply }: RoutedRequest, serve: Serve): Promise<void> {
    const { counters } = this.parts;
    try {
      const body = await readRequestBody(request.raw, request.routeOptions.bodyLimit);
      counters.enter();
      await serve(body).finally(() => counters.leave());
    } catch (error) {
      if (error instanceof ProblemError) sendProblem(reply, error.problem);
      else handleError(error as FastifyError, request, reply);
    }
  }

  onApplicationShutdown(): void {
    this.parts.log.flush();
  }

  /**
   * Reads the sign-in of a request without a payment. Null where the request is already answered, because it has no
   * sign-in or an invalid one, or none is asked for.
   */
  #admitVisit(routed: SentRequest): Serve | null {
    const { endpoint, path, sent, request, reply } = routed;
    const { visits, readOrigin } = this.parts;
    const mayRevisit = endpoint.isRevisited && request.method !== 'HEAD';
    const visit = mayRevisit ? visits.read({ endpoint, path, sent, request, origin: readOrigin(request) }) : null;
    if (visit === null) {
      this.#challenge(routed);
      return null;
    }
    if (typeof visit === 'string') {
      this.#refuseVisit(routed, visit);
      return null;
    }
    return (body) => this.#serveVisit(visit, { request, reply, body });
  }

  async #serveVisit(visit: Visit, { request, reply, body }: ReadRequest): Promise<FastifyReply> {
    const { visits, counters, log } = this.parts;
    const { endpoint, resource, signIn } = visit;
    const { path } = resource;
    const startedAtMs = performance.now();
    const answer = await visits.serve(visit, request, body);
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

  /** Parses the request's purchase. Null where the request is already answered, because its payment is malformed. */
  #parse({ header, ...presented }: PresentingRequest): Serve | null {
    const { endpoint, path, sent, request, reply } = presented;
    const idempotencyKey = readIdempotencyKey(request) ?? undefined;
    const { terms, readOrigin, log } = this.parts;
    try {
      const parts = { request, endpoint, path, sent, origin: readOrigin(request), header, idempotencyKey };
      const purchase = parsePurchase(parts, terms);
      return (body) => this.#serve(purchase, { request, reply, body });
    } catch (error) {
      if (error instanceof ProblemError) {
        sendProblem(reply, error.problem);
        return null;
      }
      if (!(error instanceof PaymentError) || !isPaymentFailure(error.code)) throw error;
      log.refused({ ...factsOf(request, path), failure: error.code, reason: error.message });
      this.#refuse({ ...presented, failure: error.code });
      return null;
    }
  }

  async #serve(purchase: Purchase, { request, reply, body }: ReadRequest): Promise<FastifyReply> {
    const headers = withoutPayment(request.raw);
    const fingerprint = fingerprintOf(purchase, { route: purchase.endpoint.route, headers, body });
    const caller = { requestId: request.id, clientAddress: request.ip, fingerprint };
    const order: Order = { purchase, caller, headers, body };
    const presented = new GatewayPurchase(this.#partsOf(purchase.sold), order);
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

  #partsOf({ judged: { option } }: SoldOption): OrderParts {
    const parts = this.parts.orders.get(option.name);
    if (parts === undefined) throw new TypeError(`no verifiers are known for the option ${option.name}`);
    return parts;
  }

  #count({ purchase }: Order, answer: ResourceAnswer | ProblemAnswer): number {
    const { counters } = this.parts;
    const durationMs = Math.round((performance.now() - purchase.startedAtMs) * 10) / 10;
    counters.countAnswer(answer);
    counters.observeSeconds(durationMs / 1000, answer.kind === 'resource' ? answer.origin : 'problem');
    return durationMs;
  }

  #challenge({ endpoint, path, sent, request, reply }: SentRequest): void {
    const { terms, counters, log, logUnpaid } = this.parts;
    counters.unpaid += 1;
    const { renderPage } = endpoint;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const varies = renderPage !== null && isRead;
    const asked = this.#asked(endpoint, path, request);
    const challenge = terms.challenges.render(asked);
    if (challenge === null) {
      sendNothingOffered(reply);
      return;
    }
    const form = varies ? pageFormOf(request.raw.headers) : null;
    if (renderPage !== null && form !== null) {
      const asPage = {
        form,
        route: endpoint.route,
        query: readQuery(request.raw.url ?? ''),
        offered: challenge.offered,
        references: challenge.references,
        sentPath: sent.path,
      };
      sendUnpaidPage(request, reply, challenge, renderPage({ ...asked, ...asPage }));
    } else {
      sendUnpaid(request, reply, { challenge, varies });
    }
    if (logUnpaid) log.unpaid(factsOf(request, path));
  }

  #refuseOrder(order: Order, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
    const { endpoint, path, instrument } = order.purchase;
    this.parts.log.refused({ ...orderFacts(order, request), failure: refusal.failure });
    return this.#refuse({ endpoint, path, request, reply, reasons: reasonsOf(instrument), ...refusal });
  }

  #refuse({
    endpoint,
    path,
    request,
    reply,
    failure,
    reasons,
    retryAfterMs,
    headers = [],
  }: RefusedRequest): FastifyReply {
    const { terms, counters } = this.parts;
    counters.countRefusal(failure);
    if (retryAfterMs !== undefined) void reply.header('Retry-After', toRetryAfter(retryAfterMs));
    const challenge = terms.challenges.render(this.#asked(endpoint, path, request), failure, reasons);
    return sendChallenge(reply, challenge, [...headers, [X_PAYMENT_FAILURE, failure]]);
  }

  #asked(endpoint: PaidEndpoint, resource: string, request: FastifyRequest): ChallengedRequest {
    // A HEAD takes no payment, so its challenge is for the method that can be paid for.
    const method = request.method === 'HEAD' ? endpoint.headMethod : request.method;
    return { endpoint, method, resource, origin: this.parts.readOrigin(request) };
  }
}

/** A request for a paid route, with its path in canonical form. */
interface RoutedRequest {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface SentRequest extends RoutedRequest {
  readonly sent: SentPath;
}

interface ReadRequest extends Pick<RoutedRequest, 'request' | 'reply'> {
  readonly body: Buffer | null;
}

type Serve = (body: Buffer | null) => Promise<FastifyReply>;

interface PresentingRequest extends SentRequest {
  readonly header: PaymentHeader;
}

interface Refusal {
  readonly failure: PaymentFailure;
  readonly reasons?: MethodReasons | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

type RefusedRequest = RoutedRequest & Refusal;

function reasonOf(end: OrderEnd): { reason?: string } {
  if (end.outcome === 'refused') return { reason: end.failure };
  return end.outcome === 'unavailable' ? { reason: end.reason } : {};
}

function orderFacts({ purchase }: Order, request: FastifyRequest): RequestFacts & PaymentFacts {
  const { explorer: explorerUrl } = purchase.sold.judged.option.chain;
  return { ...factsOf(request, purchase.path), ...paymentFactsOf(purchase), explorerUrl };
}
