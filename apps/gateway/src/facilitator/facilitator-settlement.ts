import { Inject, Injectable } from '@nestjs/common';
import type { PaymentOption } from '@tollgate/config';
import { ProblemError } from '@tollgate/http';
import { createFingerprint, hashRetryKey } from '@tollgate/ledger';
import { sell, type Unsettled } from '@tollgate/middleware/purchase';
import {
  DUPLICATE_SETTLEMENT,
  SETTLEMENT_PENDING,
  type PaymentFailure,
  type RequirementTerms,
  type SettleResponse,
  facilitatorReasonFor,
  lowerHex,
  SETTLEMENT_EXCEEDS_AMOUNT,
  payerOf,
  reasonsOf,
  signedAmountOf,
  type SignedPayment,
} from '@tollgate/protocol';
import type { SettlementResult, SignedPaymentTerms } from '@tollgate/transport';

import { GatewayEnvironment } from '../config/gateway.config.js';
import type { JudgedOption } from '../options/judged-options.js';
import { PaywallCounters } from '../paywall/paywall-counters.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { isMetered, type SignedPaymentQuestion } from '../signed-payments/signed-payments.js';
import { KEY_NEEDED } from './facilitator-access.js';
import { FacilitatorCounters } from './facilitator-counters.js';
import { FacilitatorLog } from './facilitator-log.js';
import { FacilitatorPurchase } from './facilitator-purchase.js';
import type { Asker } from './facilitator-verification.js';
import { parseFacilitatorRequest, type FacilitatorRequest } from './parse-facilitator-request.js';
import { ServedTerms } from './served-terms.js';

export interface SettleAsker extends Asker {
  readonly idempotencyKey: string | undefined;
}

export interface SettleReply {
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
  readonly #leastBaseUnits: bigint;
  readonly #leaseMs: number;

  constructor(
    @Inject(GatewayEnvironment) { facilitator, answers }: GatewayEnvironment,
    @Inject(ServedTerms) private readonly served: ServedTerms,
    @Inject(PaywallConnections) private readonly connections: PaywallConnections,
    @Inject(PaywallCounters) private readonly inFlight: PaywallCounters,
    @Inject(FacilitatorCounters) private readonly counters: FacilitatorCounters,
    @Inject(FacilitatorLog) private readonly log: FacilitatorLog,
  ) {
    this.#freeRecipients = new Set(facilitator.facilitatorPayTo.map((address) => address.toLowerCase()));
    this.#leastBaseUnits = BigInt(facilitator.facilitatorMinBaseUnits);
    this.#leaseMs = answers.leaseMs;
  }

  /** @throws ProblemError for a malformed or forbidden request, and if the payment cannot be settled now */
  async settle(body: unknown, asker: SettleAsker): Promise<SettleReply> {
    const settled = await this.#answerTo(body, asker);
    if (!settled.isReplay) this.log.answered(settled.response, asker.clientAddress);
    return settled;
  }

  async #answerTo(body: unknown, asker: SettleAsker): Promise<SettleReply> {
    const request = parseFacilitatorRequest(body);
    const served = this.served.read(request, asker.key);
    if ('reason' in served) return this.#refuse(request, served.reason, served.message);
    const { payment, terms, judged } = served;
    const question = { requestId: asker.requestId, clientAddress: asker.clientAddress, payment, terms };
    if (isMetered(payment) && terms.priceBaseUnits === '0') return this.#settleNothing(request, question, judged);
    if (asker.key === null) this.#assertFree(request.requirement, judged);
    // Counted, so that the process does not end before a settled payment is committed.
    this.inFlight.enter();
    try {
      return await this.#settle(request, question, asker, judged);
    } finally {
      this.inFlight.leave();
    }
  }

  /** Checks that the payment may be settled without an API key, since the relayer pays the gas. */
  #assertFree({ payTo, asset, amountBaseUnits }: RequirementTerms, { option }: JudgedOption): void {
    const isEnough = asset === lowerHex(option.asset) && BigInt(amountBaseUnits) >= this.#leastBaseUnits;
    const isFree = this.#freeRecipients.has(payTo) && isEnough;
    if (!isFree) throw new ProblemError(KEY_NEEDED);
  }

  async #settle(
    request: FacilitatorRequest,
    question: SignedPaymentQuestion,
    asker: SettleAsker,
    { signedPayments: payments }: JudgedOption,
  ): Promise<SettleReply> {
    const { ledger } = this.connections;
    const isForOther = !this.connections.options.list.some((judged) => isPaidTo(judged.option, question.terms));
    const parts = { ledger, payments, leaseMs: this.#leaseMs, request, question, isForOther };
    const purchase = new FacilitatorPurchase(parts, keysFor(request.requirement, asker));
    const end = await sell(purchase);
    switch (end.outcome) {
      case 'committed':
        return this.#answer('settled', end.product);
      case 'replayed':
      case 'reproduced':
        this.counters.counts.replayed += 1;
        return { response: end.answer, isReplay: true };
      case 'busy':
        return this.#pending(request, null);
      case 'conflict':
      case 'gone':
        return this.#refuse(request, DUPLICATE_SETTLEMENT, 'payment_used');
      case 'refused':
        return this.#refuseFor(end.failure, request, question, end.payer);
      case 'not_settled':
        return this.#answerUnsettled(end.result, request, question, purchase.payer);
      case 'taken_over':
        if (end.settled === null) throw this.counters.unavailable();
        return this.#pending(request, end.settled.txHash, purchase.payer);
      case 'not_replayed':
        throw end.error;
      case 'paused':
      case 'unavailable':
        throw this.counters.unavailable(end.retryAfterMs);
      case 'released':
      case 'failed':
      case 'held':
      case 'store_unavailable':
        throw this.counters.unavailable();
    }
  }

  /** Reports a charge of zero as settled: there is no transaction and no gas, and the signature stays valid. */
  async #settleNothing(
    request: FacilitatorRequest,
    question: SignedPaymentQuestion,
    { signedPayments }: JudgedOption,
  ): Promise<SettleReply> {
    const terms = { ...question.terms, priceBaseUnits: signedAmountOf(question.payment) };
    const verdict = await signedPayments.look({ ...question, terms });
    if (verdict.outcome === 'unavailable') throw this.counters.unavailable(verdict.retryAfterMs);
    const payer = payerOf(question.payment);
    if (verdict.outcome === 'valid' && verdict.txHash === null) {
      const { network } = request.requirement;
      return this.#answer('settled', { success: true, payer, transaction: '', network, amount: '0' });
    }
    const failure = verdict.outcome === 'refused' ? verdict.failure : 'payment_used';
    return this.#refuseFor(failure, request, question, payer);
  }

  #answerUnsettled(
    result: Unsettled<SettlementResult>,
    request: FacilitatorRequest,
    question: SignedPaymentQuestion,
    payer: string | undefined,
  ): SettleReply {
    switch (result.outcome) {
      case 'failed':
        return this.#refuseFor(result.failure, request, question, payer);
      case 'pending':
        if (result.txHash === null) throw this.counters.settling();
        return this.#pending(request, result.txHash, payer);
      case 'unavailable':
        throw this.counters.unavailable(result.retryAfterMs);
    }
  }

  #pending(request: FacilitatorRequest, txHash: string | null, payer?: string): SettleReply {
    const response = fail(request, SETTLEMENT_PENDING, 'The payment is being settled.', payer);
    return this.#answer('pending', { ...response, transaction: txHash ?? '' });
  }

  #refuseFor(
    failure: PaymentFailure,
    request: FacilitatorRequest,
    { payment }: SignedPaymentQuestion,
    payer: string | undefined,
  ): SettleReply {
    return this.#refuse(request, reasonFor(failure, request, payment), failure, payer);
  }

  #refuse(request: FacilitatorRequest, reason: string, message: string, payer?: string): SettleReply {
    return this.#answer('not_settled', fail(request, reason, message, payer));
  }

  #answer(outcome: Outcome, response: SettleResponse): SettleReply {
    this.counters.counts[outcome] += 1;
    return { response, isReplay: false };
  }
}

/** Money to an account of this seller in a token that it does not sell in is its own too. */
function isPaidTo({ chain, payTo }: PaymentOption, terms: SignedPaymentTerms): boolean {
  return chain.id === terms.chainId && lowerHex(payTo) === lowerHex(terms.payTo);
}

/** The API key is part of the retry key, since different callers may use the same Idempotency-Key, such as `1`. */
function keysFor({ network, payTo, asset, amountBaseUnits }: RequirementTerms, { key, idempotencyKey }: SettleAsker) {
  const query = [network, payTo, asset, amountBaseUnits].join(' ');
  return {
    fingerprint: createFingerprint({ method: 'POST', path: '/facilitator/settle', query }),
    retryKey: idempotencyKey === undefined ? null : hashRetryKey(`${key?.id ?? ''}\n${idempotencyKey}`),
  };
}

/** The reason why a payment is not settled, as defined by its x402 version. */
function reasonFor(failure: PaymentFailure, { version }: FacilitatorRequest, payment: SignedPayment): string {
  if (failure === 'payment_used') return DUPLICATE_SETTLEMENT;
  if (failure === 'amount_too_low' && isMetered(payment)) return SETTLEMENT_EXCEEDS_AMOUNT;
  return facilitatorReasonFor(failure, version, reasonsOf(payment));
}

function fail(
  { requirement }: FacilitatorRequest,
  errorReason: string,
  errorMessage: string,
  payer?: string,
): SettleResponse {
  return {
    success: false,
    errorReason,
    errorMessage,
    ...(payer !== undefined && { payer }),
    transaction: '',
    network: requirement.network,
  };
}
