import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type ApiKey, type SettlementResult } from '@tollgate/common';
import { createFingerprint, hashRetryKey, type StoredAnswer } from '@tollgate/ledger';
import { fulfil, type Unsettled } from '@tollgate/middleware/purchase';
import {
  DUPLICATE_SETTLEMENT,
  SETTLEMENT_PENDING,
  type RequirementTerms,
  type SettleResponse,
  type SignedPayment,
  type SignedPermit,
} from '@tollgate/protocol';

import { GatewayEnvironment } from '../gateway.config.js';
import { PaywallCounters } from '../paywall/paywall-counters.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { SignedPayments, type SignedPaymentQuestion } from '../signed-payments/signed-payments.js';
import { ClaimedSettlement, type Claim } from './claimed-settlement.js';
import { KEY_NEEDED } from './facilitator-access.js';
import { FacilitatorCounters } from './facilitator-counters.js';
import { FacilitatorLog } from './facilitator-log.js';
import { createSettling, createUnavailable } from './facilitator-unavailable.js';
import type { Asker } from './facilitator-verification.js';
import { parseFacilitatorRequest, type FacilitatorRequest } from './parse-facilitator-request.js';
import { ServedTerms } from './served-terms.js';
import { fail, isMetered, reasonFor } from './settle-response.js';

export interface SettleAsker extends Asker {
  /** Null for a request without API key. */
  readonly key: ApiKey | null;
  readonly idempotencyKey: string | undefined;
}

export interface Settled {
  readonly response: SettleResponse;
  /** Whether the response is a replay of an earlier one with the same idempotency key. */
  readonly isReplay: boolean;
}

type Outcome = 'settled' | 'not_settled' | 'pending';

/**
 * Settles a signed payment and reports its success once. A second request for it is refused as a duplicate settlement.
 */
@Injectable()
export class FacilitatorSettlement {
  readonly #freeRecipients: ReadonlySet<string>;
  readonly #ownAsset: string;
  readonly #leastBaseUnits: bigint;
  readonly #leaseMs: number;

  constructor(
    @Inject(GatewayEnvironment) { facilitator, payment, answers }: GatewayEnvironment,
    @Inject(ServedTerms) private readonly served: ServedTerms,
    @Inject(SignedPayments) private readonly payments: SignedPayments,
    @Inject(PaywallConnections) private readonly connections: PaywallConnections,
    @Inject(PaywallCounters) private readonly inFlight: PaywallCounters,
    @Inject(FacilitatorCounters) private readonly counters: FacilitatorCounters,
    @Inject(FacilitatorLog) private readonly log: FacilitatorLog,
  ) {
    this.#freeRecipients = new Set(facilitator.facilitatorPayTo.map((address) => address.toLowerCase()));
    this.#ownAsset = payment.signedAsset.asset;
    this.#leastBaseUnits = BigInt(facilitator.facilitatorMinBaseUnits);
    this.#leaseMs = answers.leaseMs;
  }

  /** @throws ProblemError for a malformed or forbidden request, and if the payment cannot be settled now */
  async settle(body: unknown, asker: SettleAsker): Promise<Settled> {
    const settled = await this.#answerTo(body, asker);
    if (!settled.isReplay) this.log.answered(settled.response, asker.clientAddress);
    return settled;
  }

  async #answerTo(body: unknown, asker: SettleAsker): Promise<Settled> {
    const request = parseFacilitatorRequest(body);
    const served = this.served.read(request);
    if ('reason' in served) return this.#refuse(request, served.reason, served.message);
    const question = { requestId: asker.requestId, clientAddress: asker.clientAddress, ...served };
    const { payment } = served;
    if (isMetered(payment) && served.terms.priceBaseUnits === '0')
      return this.#settleNothing(request, question, payment);
    if (asker.key === null) this.#assertFree(request.requirement);
    // Counted, so that the process does not end before a settled payment is committed.
    this.inFlight.enter();
    try {
      return await this.#settle(request, question, asker);
    } finally {
      this.inFlight.leave();
    }
  }

  /** Checks that the payment may be settled without an API key, since the relayer pays the gas. */
  #assertFree({ payTo, asset, amountBaseUnits }: RequirementTerms): void {
    const isEnough = asset === this.#ownAsset && BigInt(amountBaseUnits) >= this.#leastBaseUnits;
    const isFree = this.#freeRecipients.has(payTo) && isEnough;
    if (!isFree) throw new ProblemError(KEY_NEEDED);
  }

  async #settle(request: FacilitatorRequest, question: SignedPaymentQuestion, asker: SettleAsker): Promise<Settled> {
    const verdict = await this.payments.claim(question, keysFor(request.requirement, asker));
    switch (verdict.outcome) {
      case 'claimed': {
        return this.#settleClaimed(request, question, verdict);
      }
      case 'answered':
        return this.#replay(request, await this.connections.ledger.readAnswer(verdict.id));
      case 'busy':
        return this.#answer('pending', fail(request, SETTLEMENT_PENDING, 'The payment is being settled.'));
      case 'conflict':
        return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used');
      case 'refused': {
        const { failure, payer } = verdict;
        return this.#refuse(request, reasonFor(failure, request, question.payment), failure, payer);
      }
      case 'valid':
      case 'unavailable':
        throw this.#unavailable('retryAfterMs' in verdict ? verdict.retryAfterMs : undefined);
    }
  }

  /** Reports a charge of zero as settled: there is no transaction and no gas, and the permit stays valid. */
  async #settleNothing(
    request: FacilitatorRequest,
    question: SignedPaymentQuestion,
    { permit2Authorization }: SignedPermit,
  ): Promise<Settled> {
    const terms = { ...question.terms, priceBaseUnits: permit2Authorization.permitted.amount };
    const verdict = await this.payments.look({ ...question, terms });
    if (verdict.outcome === 'unavailable') throw this.#unavailable(verdict.retryAfterMs);
    const payer = permit2Authorization.from;
    if (verdict.outcome === 'valid' && verdict.txHash === null) {
      const { network } = request.requirement;
      return this.#answer('settled', { success: true, payer, transaction: '', network, amount: '0' });
    }
    const failure = verdict.outcome === 'refused' ? verdict.failure : 'payment_used';
    return this.#refuse(request, reasonFor(failure, request, question.payment), failure, payer);
  }

  async #settleClaimed(request: FacilitatorRequest, question: SignedPaymentQuestion, claim: Claim): Promise<Settled> {
    const { payer } = claim;
    const { ledger } = this.connections;
    const parts = { ledger, payments: this.payments, leaseMs: this.#leaseMs };
    const end = await fulfil(new ClaimedSettlement(parts, { request, question, claim }));
    switch (end.state) {
      case 'committed':
        return this.#answer('settled', end.product);
      case 'not_settled':
        return this.#answerUnsettled(request, question.payment, end.result, payer);
      case 'taken_over': {
        if (end.settled === null) throw this.#unavailable();
        const response = fail(request, SETTLEMENT_PENDING, 'The payment is being settled.', payer);
        return this.#answer('pending', { ...response, transaction: end.settled.txHash });
      }
      case 'released':
      case 'failed':
      case 'held':
      case 'store_unavailable':
        throw this.#unavailable();
    }
  }

  #answerUnsettled(
    request: FacilitatorRequest,
    payment: SignedPayment,
    result: Unsettled<SettlementResult>,
    payer: string,
  ): Settled {
    switch (result.outcome) {
      case 'failed':
        return this.#refuse(request, reasonFor(result.failure, request, payment), result.failure, payer);
      case 'pending': {
        if (result.txHash === null) throw this.#settling();
        const response = fail(request, SETTLEMENT_PENDING, 'The payment is being settled.', payer);
        return this.#answer('pending', { ...response, transaction: result.txHash });
      }
      case 'unavailable':
        throw this.#unavailable(result.retryAfterMs);
    }
  }

  #replay(request: FacilitatorRequest, stored: StoredAnswer | null): Settled {
    if (stored === null) return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used');
    this.counters.counts.replayed += 1;
    return { response: JSON.parse(stored.body.toString()) as SettleResponse, isReplay: true };
  }

  #refuse(request: FacilitatorRequest, reason: string, message: string, payer?: string): Settled {
    return this.#answer('not_settled', fail(request, reason, message, payer));
  }

  #answer(outcome: Outcome, response: SettleResponse): Settled {
    this.counters.counts[outcome] += 1;
    return { response, isReplay: false };
  }

  /** A 503, because servers only poll `settlement_pending` if it names a transaction. */
  #settling(): ProblemError {
    this.counters.counts.pending += 1;
    return new ProblemError(createSettling());
  }

  #unavailable(retryAfterMs?: number): ProblemError {
    this.counters.counts.unavailable += 1;
    return new ProblemError(createUnavailable(retryAfterMs));
  }
}

/** The API key is part of the retry key, since different callers may use the same Idempotency-Key, such as `1`. */
function keysFor({ network, payTo, asset, amountBaseUnits }: RequirementTerms, { key, idempotencyKey }: SettleAsker) {
  const query = [network, payTo, asset, amountBaseUnits].join(' ');
  return {
    fingerprint: createFingerprint({ method: 'POST', path: '/facilitator/settle', query }),
    retryKey: idempotencyKey === undefined ? null : hashRetryKey(`${key?.id ?? ''}\n${idempotencyKey}`),
  };
}
