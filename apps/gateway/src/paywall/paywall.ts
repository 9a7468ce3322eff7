import { sendProblem, toRetryAfter, type Problem } from '@tollgate/common';
import { PaymentError, X_PAYMENT_FAILURE, type PaymentFailure } from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { INVALID_IDEMPOTENCY_KEY, readIdempotencyKey } from '../server/idempotency-key.js';
import { answerBusy, answerConflict, answerUnavailable, type Answer } from './answer.js';
import type { Answers } from './answer-purchase.js';
import type { ChallengedRequest, Challenges } from './challenges.js';
import type { Judge } from './judge.js';
import type { PaidEndpoint } from './paid-endpoint.js';
import type { PaywallCounters } from './paywall-counters.js';
import type { PaywallLog, RequestFacts } from './paywall-log.js';
import type { ReadPublicOrigin } from './public-origin.js';
import { fingerprintOf, isPaymentFailure, parsePurchase, readProofHeader, type Purchase } from './purchase.js';
import type { Order } from './resource-request.js';
import { sendAnswer } from './send-answer.js';
import { sendUnpaid } from './send-unpaid.js';

export interface PaywallParts {
  readonly challenges: Challenges;
  readonly judge: Judge;
  readonly answers: Answers;
  readonly counters: PaywallCounters;
  readonly log: PaywallLog;
  readonly network: string;
  readonly readOrigin: ReadPublicOrigin;
  readonly logUnpaid: boolean;
}

const UNSAFE_PATH: Problem = {
  status: 400,
  code: 'path_invalid',
  detail: 'The path has a segment that may not be used.',
};
/** Stands before every paid route: challenge, proof, verdict, answer. */
export class Paywall {
  readonly #purchases = new WeakMap<FastifyRequest, Purchase>();

  constructor(private readonly parts: PaywallParts) {}

  /** Before the body is read: answers who presents no proof, or none that is well formed; lets the others pass. */
  admit(endpoint: PaidEndpoint, request: FastifyRequest, reply: FastifyReply, pass: () => void): void {
    const path = endpoint.path.literal ?? endpoint.path.fill(request.params as Record<string, string>);
    if (path === null) {
      sendProblem(reply, UNSAFE_PATH);
      return;
    }
    // A HEAD asks what the resource costs: a payment spent on it would buy nothing.
    if (readProofHeader(request) === undefined || request.method === 'HEAD') {
      this.#challenge(endpoint, path, request, reply);
      return;
    }
    const idempotencyKey = readIdempotencyKey(request);
    if (idempotencyKey === null) {
      sendProblem(reply, INVALID_IDEMPOTENCY_KEY);
      return;
    }
    const { challenges, network } = this.parts;
    try {
      this.#purchases.set(request, parsePurchase({ request, endpoint, path, idempotencyKey }, { challenges, network }));
    } catch (error) {
      if (!(error instanceof PaymentError) || !isPaymentFailure(error.code)) throw error;
      this.parts.log.refused({ ...factsOf(request, path), failure: error.code, reason: error.message });
      this.#refuse({ endpoint, path, request, reply, failure: error.code });
      return;
    }
    pass();
  }

  /** After the body was read: finds out whether the purchase is paid, and answers it. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const purchase = this.#purchases.get(request);
    if (purchase === undefined) throw new Error('A paid route was reached past its paywall.');
    const { counters } = this.parts;
    counters.enter();
    try {
      return await this.#serve(purchase, request, reply);
    } finally {
      counters.leave();
    }
  }

  async #serve(purchase: Purchase, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = Buffer.isBuffer(request.body) ? request.body : null;
    const caller = { requestId: request.id, clientAddress: request.ip, fingerprint: fingerprintOf(purchase, body) };
    const params = request.params as Record<string, string>;
    const order: Order = { purchase, caller, params, headers: request.raw.headers, body };
    const { judge, answers } = this.parts;
    const verdict = await judge.judge(purchase, caller);
    switch (verdict.outcome) {
      case 'claimed':
        return this.#answer(order, reply, request, await answers.produce(order, verdict.lease), verdict.payer);
      case 'answered':
        return this.#answer(order, reply, request, await answers.replay(order, verdict.id));
      case 'busy':
        return this.#answer(order, reply, request, answerBusy(verdict.retryAfterMs));
      case 'conflict':
        return this.#answer(order, reply, request, answerConflict());
      case 'unavailable':
        this.parts.log.unavailable({ ...orderFacts(order, request), reason: verdict.reason });
        return this.#answer(order, reply, request, answerUnavailable(verdict.retryAfterMs));
      case 'refused': {
        const { failure, retryAfterMs } = verdict;
        const { endpoint, path } = purchase;
        this.parts.log.refused({ ...orderFacts(order, request), failure });
        return this.#refuse({ endpoint, path, request, reply, failure, retryAfterMs });
      }
    }
  }

  #answer(order: Order, reply: FastifyReply, request: FastifyRequest, answer: Answer, payer?: string): FastifyReply {
    const { counters, log } = this.parts;
    counters.countAnswer(answer);
    const durationMs = Math.round((performance.now() - order.purchase.startedAtMs) * 10) / 10;
    counters.observeSeconds(durationMs / 1000, answer.kind === 'resource' ? answer.origin : 'problem');
    log.answered({ ...orderFacts(order, request), ...(payer === undefined ? {} : { payer }), durationMs }, answer);
    return sendAnswer(reply, answer);
  }

  #challenge(endpoint: PaidEndpoint, path: string, request: FastifyRequest, reply: FastifyReply): void {
    const { challenges, counters, log, logUnpaid } = this.parts;
    counters.unpaid += 1;
    const challenge = request.method === 'HEAD' ? null : challenges.render(this.#asked(endpoint, path, request));
    sendUnpaid(request, reply, challenge);
    if (logUnpaid) log.unpaid(factsOf(request, path));
  }

  #refuse({ endpoint, path, request, reply, failure, retryAfterMs }: RefusedRequest): FastifyReply {
    const { challenges, counters } = this.parts;
    counters.countRefusal(failure);
    if (retryAfterMs !== undefined) void reply.header('Retry-After', toRetryAfter(retryAfterMs));
    const { body, headers } = challenges.render(this.#asked(endpoint, path, request), failure);
    for (let at = 0; at + 1 < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1]);
    return reply
      .code(402)
      .header(X_PAYMENT_FAILURE, failure)
      .header('Cache-Control', 'no-store')
      .header('X-Request-Id', request.id)
      .type('application/json; charset=utf-8')
      .send(body);
  }

  #asked(endpoint: PaidEndpoint, resource: string, request: FastifyRequest): ChallengedRequest {
    return { endpoint, method: request.method, resource, origin: this.parts.readOrigin(request) };
  }
}

interface RefusedRequest {
  readonly endpoint: PaidEndpoint;
  readonly path: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly failure: PaymentFailure;
  readonly retryAfterMs?: number | undefined;
}

function factsOf(request: FastifyRequest, path: string): RequestFacts {
  return { requestId: request.id, method: request.method, path, clientAddress: request.ip };
}

function orderFacts({ purchase }: Order, request: FastifyRequest): RequestFacts & { txHash: string } {
  return { ...factsOf(request, purchase.path), txHash: purchase.proof.payload.txHash };
}
